import { render } from 'preact';
import { textsLoaded } from './language/texts.ts';
import { CataloguePage } from './page/catalogue-page.tsx';
import { sessionRestored, signInState } from './session/session.ts';
import { SignInAgain, SignInPage } from './session/sign-in.tsx';

function Console() {
  if (signInState.value === 'out') return <SignInPage />;
  return (
    <>
      <CataloguePage />
      {signInState.value === 'expired' && <SignInAgain />}
    </>
  );
}

void Promise.all([textsLoaded, sessionRestored]).then(() =>
  render(<Console />, document.body.querySelector('#app') as Element),
);
