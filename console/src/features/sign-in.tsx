import { useSignal } from '@preact/signals';
import { BookkeepingError, type Login, RefusedError } from 'bookkeeping-client/index.ts';
import { useEffect, useRef } from 'preact/hooks';
import { formatMessage } from '../language/format.ts';
import type { Texts } from '../language/language.ts';
import { allTexts, texts } from '../language/texts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useApp } from './use-app.ts';

export function SignInPage() {
  const t = texts.value;
  const { isTouched } = useApp();
  useEffect(() => {
    document.title = t.catalogue;
  }, [t.catalogue]);
  useEffect(
    () => () => {
      // In a low window, the form was scrolled; the catalogue begins at its top.
      scrollTo(0, 0);
      // Where it would open a keyboard on the screen, the user taps the search.
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body || isTouched.value) return;
        const search = document.getElementById('search');
        if (!search) return;
        search.focus();
        // Until the user uses it, a page without books may take the focus from it.
        search.dataset.unused = '';
        for (const type of ['input', 'blur'])
          search.addEventListener(type, () => delete search.dataset.unused, { once: true });
      });
    },
    [],
  );
  return (
    <div class="sign-in">
      <main>
        <p class="mark" aria-hidden="true" />
        <h1>{t.welcome}</h1>
        <p class="quiet">{t.signInHint}</p>
        <SignInForm />
      </main>
    </div>
  );
}

/** The dialog over the page after the session has expired, or before, when the user wants it. */
export function SignInAgain() {
  const { session } = useApp();
  const t = texts.value;
  const isOver = session.state.value === 'expired';
  return (
    <Dialog label={t.signInAgain} onDismiss={isOver ? undefined : () => (session.isAsked.value = false)}>
      <h2>{t.signInAgain}</h2>
      <p class="quiet">{isOver ? t.signInAgainHint : allTexts.value.sessionEnds}</p>
      <SignInForm />
      <Button variant="ghost" text={t.signOutInstead} onClick={() => session.signOut()} />
    </Dialog>
  );
}

function SignInForm() {
  const { session } = useApp();
  const problem = useSignal<SignInProblem | undefined>(undefined);
  const waitSeconds = useSignal(0);
  const isBusy = useSignal(false);
  const isShown = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const t = texts.value;
  useEffect(() => {
    // Browsers do this when the page is loaded, and not after a sign-out.
    if (document.activeElement === document.body)
      form.current?.querySelector<HTMLElement>('[autofocus]')?.focus();
  }, []);

  useEffect(() => {
    if (waitSeconds.value === 0) return undefined;
    const timer = setTimeout(() => waitSeconds.value--, 1_000);
    return () => clearTimeout(timer);
  }, [waitSeconds.value]);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isBusy.value || waitSeconds.value > 0) return;
    const login = Object.fromEntries(
      new FormData(event.currentTarget as HTMLFormElement),
    ) as unknown as Login;
    isBusy.value = true;
    try {
      await session.signIn(login);
    } catch (error) {
      if (!(error instanceof BookkeepingError)) throw error;
      problem.value = problemOf(error);
      if (problem.value === 'throttled') waitSeconds.value = (error as RefusedError).retryAfterSeconds ?? 0;
      if (problem.value === 'wrong')
        form.current?.querySelector<HTMLInputElement>('[name=password]')?.select();
    } finally {
      isBusy.value = false;
    }
  }

  const password = {
    id: 'sign-in-password',
    name: 'password',
    autocomplete: 'current-password',
    autocapitalize: 'none',
    spellcheck: false,
    required: true,
    autofocus: session.username !== '',
    'aria-invalid': problem.value === 'wrong',
    'aria-describedby': 'sign-in-error',
  } as const;
  return (
    <form ref={form} class="sign-in-form" onSubmit={(event) => void submit(event)} aria-busy={isBusy.value}>
      <label class="field">
        <span>{t.username}</span>
        <input
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
          defaultValue={session.username}
          autofocus={session.username === ''}
        />
      </label>
      <div class="password">
        <div class="field">
          <label id="password-label" for="sign-in-password">
            {t.password}
          </label>
          {isShown.value ? <input {...password} type="text" /> : <input {...password} type="password" />}
        </div>
        <button
          type="button"
          class="button ghost"
          aria-pressed={isShown.value}
          aria-describedby="password-label"
          onClick={() => {
            isShown.value = !isShown.value;
          }}
        >
          {t.showPassword}
        </button>
      </div>
      <label class="checkbox">
        <input type="checkbox" name="scope" value="read" defaultChecked={session.isReadOnly.value} />
        <span>{t.onlyLook}</span>
      </label>
      <button class="button primary" type="submit" aria-disabled={isBusy.value || waitSeconds.value > 0}>
        {isBusy.value
          ? t.signingIn
          : waitSeconds.value > 0
            ? formatMessage(t.wait, { seconds: waitSeconds.value })
            : t.signIn}
      </button>
      <p class="error" id="sign-in-error" role="alert">
        {problem.value && t.signInErrors[problem.value]}
      </p>
    </form>
  );
}

type SignInProblem = keyof Texts['signInErrors'];

function problemOf(error: BookkeepingError): SignInProblem {
  if (!(error instanceof RefusedError) || error.status >= 500) return 'unreachable';
  return error.status === 429 ? 'throttled' : 'wrong';
}
