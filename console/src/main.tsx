import { render } from 'preact';
import { CataloguePage } from './features/catalogue-page.tsx';
import { SignInAgain, SignInPage } from './features/sign-in.tsx';
import { AppContext, useApp } from './features/use-app.ts';
import { startTexts } from './language/texts.ts';
import { App } from './state/app.ts';

function Console() {
  const { state, isAsked } = useApp().session;
  if (state.value === 'out') return <SignInPage />;
  return (
    <>
      <CataloguePage />
      {(state.value === 'expired' || isAsked.value) && <SignInAgain />}
    </>
  );
}

const app = new App();
void Promise.all([startTexts(), app.session.restored]).then(() =>
  render(
    <AppContext.Provider value={app}>
      <Console />
    </AppContext.Provider>,
    document.body.querySelector('#app') as Element,
  ),
);
