import { texts } from '../language/language.ts';
import { Dialog } from '../page/dialog.tsx';
import { Choices } from '../page/preference-menus.tsx';
import { signOut } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

/** What somebody sees who is not signed in. */
export function SignInPage() {
  const t = texts.value;
  return (
    <div class="sign-in">
      <main>
        <p class="mark" aria-hidden="true" />
        <h1>{t.welcome}</h1>
        <p class="quiet">{t.signInHint}</p>
        <SignInForm />
      </main>
      <footer>
        <Choices />
      </footer>
    </div>
  );
}

/** Lies over whatever somebody was doing when the session expired, and leaves it as it is. */
export function SignInAgain() {
  const t = texts.value;
  return (
    <Dialog label={t.signInAgain} onDismiss={undefined}>
      <h2>{t.signInAgain}</h2>
      <p class="quiet">{t.signInAgainHint}</p>
      <SignInForm />
      <button type="button" class="link" onClick={signOut}>
        {t.signOutInstead}
      </button>
    </Dialog>
  );
}
