import { render } from 'preact';
import { CataloguePage } from './page/catalogue-page.tsx';
import { session } from './session/session.ts';
import { SignInAgain, SignInPage } from './session/sign-in.tsx';

function Console() {
  if (session.value === 'out') return <SignInPage />;
  return (
    <>
      <CataloguePage />
      {session.value === 'expired' && <SignInAgain />}
    </>
  );
}

render(<Console />, document.body.querySelector('#app') as Element);
