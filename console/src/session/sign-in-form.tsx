import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { texts } from '../language/language.ts';
import { lastUsername, signIn } from './session.ts';
import { SignInError, type SignInFault } from './token.ts';

/** The form with which people sign in: on the page for it, and in the dialog when a session has expired. */
export function SignInForm() {
  const fault = useSignal<SignInFault | undefined>(undefined);
  const waitSeconds = useSignal(0);
  const isBusy = useSignal(false);
  const t = texts.value;

  useEffect(() => {
    if (waitSeconds.value === 0) return undefined;
    const timer = setTimeout(() => waitSeconds.value--, 1_000);
    return () => clearTimeout(timer);
  }, [waitSeconds.value]);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isBusy.value || waitSeconds.value > 0) return;
    const form = event.currentTarget as HTMLFormElement;
    const typed = Object.fromEntries(new FormData(form)) as { username: string; password: string };
    isBusy.value = true;
    try {
      await signIn(typed);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      fault.value = error.fault;
      waitSeconds.value = error.waitSeconds;
      if (error.fault === 'wrong') form.querySelector<HTMLInputElement>('[name=password]')?.select();
    } finally {
      isBusy.value = false;
    }
  }

  const isWrong = fault.value === 'wrong';
  return (
    <form class="sign-in-form" onSubmit={(event) => void submit(event)} aria-busy={isBusy.value}>
      <label class="field">
        <span>{t.username}</span>
        <input
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
          defaultValue={lastUsername}
          autofocus={lastUsername === ''}
        />
      </label>
      <label class="field">
        <span>{t.password}</span>
        <input
          name="password"
          type="password"
          autocomplete="current-password"
          required
          autofocus={lastUsername !== ''}
          aria-invalid={isWrong}
          aria-describedby="sign-in-fault"
        />
      </label>
      <p class="fault" id="sign-in-fault" role="alert">
        {fault.value && t.signInFault[fault.value]}
      </p>
      <button class="button primary" type="submit" aria-disabled={isBusy.value || waitSeconds.value > 0}>
        {isBusy.value ? t.signingIn : waitSeconds.value > 0 ? t.wait(waitSeconds.value) : t.signIn}
      </button>
    </form>
  );
}
