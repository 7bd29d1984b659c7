import { Description } from './description.js';
import { element, find, paragraphs, phrases } from './dom.js';
import { showOperation, showOutcome } from './operation.js';
import { Session } from './session.js';
import { showTheme } from './theme.js';

/** Shows `openapi.json`, with a form to try each operation. */

const session = new Session();
showTheme();
showSignIn();
const introduction = find('#introduction', HTMLElement);
try {
  const response = await fetch('openapi.json');
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  show(new Description(await response.json()));
} catch (error) {
  introduction.replaceChildren(
    element('p', { class: 'error' }, `Cannot read the description of the API: ${String(error)}`),
  );
}

/** @param {Description} description */
function show(description) {
  const { title, version, summary, description: text } = description.info;
  document.title = `${title} API`;
  introduction.replaceChildren(
    element(
      'p',
      { class: 'lead' },
      summary,
      ' ',
      element('span', { class: 'version' }, `Version ${version}`),
    ),
    ...paragraphs(text),
  );
  const operations = description.operations.map((operation) => ({
    tag: operation.tag,
    card: showOperation(operation, description, session),
  }));
  for (const { name, description: about } of description.tags) {
    const cards = operations.filter(({ tag }) => tag === name).map(({ card }) => card);
    const heading = element('h2', {}, name);
    find('#operations', HTMLElement).append(
      element('section', {}, heading, element('p', { class: 'hint' }, ...phrases(about)), ...cards),
    );
  }
  find('#any', HTMLElement).append(...description.commonOutcomes.map(showOutcome));
  window.addEventListener('hashchange', openTarget);
  openTarget();
}

/** Opens the operation in the fragment of the URL. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.open = true;
  target.scrollIntoView();
}

function showSignIn() {
  const pill = find('#session', HTMLElement);
  const form = find('#sign-in form', HTMLFormElement);
  const status = find('#sign-in [role=status]', HTMLElement);
  const username = find('#sign-in [name=username]', HTMLInputElement);
  const password = find('#sign-in [name=password]', HTMLInputElement);
  const signOut = find('#sign-in [name=sign-out]', HTMLButtonElement);

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void signIn();
  });
  signOut.addEventListener('click', () => {
    session.signOut();
    say('Signed out. The token has been deleted.');
  });
  session.addEventListener('change', showSession);
  setInterval(showSession, 10_000);

  async function signIn() {
    try {
      await session.signIn(username.value, password.value);
      password.value = '';
      say('Signed in. The token is sent with every request that needs one.');
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), true);
    }
  }

  function showSession() {
    const minutes = Math.ceil(session.secondsLeft / 60);
    const isSignedIn = minutes > 0;
    const expired = session.token === '' ? 'Not signed in' : 'Token expired';
    pill.textContent = isSignedIn ? `Signed in, ${minutes} min left` : expired;
    pill.classList.toggle('good', isSignedIn);
    signOut.hidden = session.token === '';
  }

  /**
   * @param {string} text
   * @param {boolean} [isError]
   */
  function say(text, isError = false) {
    status.textContent = text;
    status.classList.toggle('error', isError);
  }
}
