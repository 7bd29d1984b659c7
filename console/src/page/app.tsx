import { session } from '../session/session.ts';
import { SignInAgain, SignInPage } from '../session/sign-in.tsx';
import { CataloguePage } from './catalogue-page.tsx';

/** The whole page. */
export function App() {
  if (session.value === 'out') return <SignInPage />;
  return (
    <>
      <CataloguePage />
      {session.value === 'expired' && <SignInAgain />}
    </>
  );
}
