import { texts } from '../language/texts.ts';
import { LinkButton } from '../page/button.tsx';
import { Dialog } from '../page/dialog.tsx';
import { PreferenceMenus } from '../page/preference-menus.tsx';
import { signOut } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

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
        <PreferenceMenus />
      </footer>
    </div>
  );
}

/** The dialog over the page when the session has expired. */
export function SignInAgain() {
  const t = texts.value;
  return (
    <Dialog label={t.signInAgain} onDismiss={undefined}>
      <h2>{t.signInAgain}</h2>
      <p class="quiet">{t.signInAgainHint}</p>
      <SignInForm />
      <LinkButton text={t.signOutInstead} onClick={signOut} />
    </Dialog>
  );
}
