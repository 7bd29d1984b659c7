import { find } from './dom.js';

/** The token of the user, in memory only, and the dialog to sign in. Dispatches `change` events. */
export class Session extends EventTarget {
  /** The token, or '' when the user is not signed in. */
  token = '';
  #dialog = find('#sign-in', HTMLDialogElement);
  #form = find('#sign-in form', HTMLFormElement);
  #status = find('#sign-in [role=status]', HTMLElement);

  constructor() {
    super();
    const button = find('#session', HTMLButtonElement);
    const signOut = find('#sign-in [name=sign-out]', HTMLButtonElement);
    const show = () => {
      button.textContent = stateOf(this.token);
      signOut.hidden = this.token === '';
    };
    this.addEventListener('change', show);
    setInterval(show, 10_000);
    button.addEventListener('click', () => this.ask());
    signOut.addEventListener('click', () => this.#change(''));
    find('#sign-in [name=cancel]', HTMLButtonElement).addEventListener('click', () => this.#dialog.close());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#signIn();
    });
  }

  /** Asks the user to sign in. @param {() => void} [onToken] is called when there is a new token */
  ask(onToken) {
    const { token } = this;
    const close = () => {
      find('#sign-in [name=password]', HTMLInputElement).value = '';
      if (this.token !== '' && this.token !== token) onToken?.();
    };
    this.#status.textContent = '';
    this.#dialog.showModal();
    this.#dialog.addEventListener('close', close, { once: true });
  }

  async #signIn() {
    try {
      const response = await fetch('token', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(Object.fromEntries(new FormData(this.#form))),
      });
      const { message, data } = await response.json();
      if (response.ok) this.#change(data.token);
      else this.#status.textContent = message;
    } catch (error) {
      this.#status.textContent = `No response: ${String(error)}`;
    }
  }

  /** @param {string} token */
  #change(token) {
    this.token = token;
    this.dispatchEvent(new Event('change'));
    this.#dialog.close();
  }
}

/** @param {string} token whose claims are read (RFC 7519, section 4) */
function stateOf(token) {
  if (token === '') return 'Sign in';
  const [, payload = ''] = token.split('.');
  const { exp, scope } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  const minutes = Math.ceil(exp / 60 - Date.now() / 60_000);
  if (minutes <= 0) return 'Token expired: sign in';
  return `Signed in${scope === 'read' ? ', read-only' : ''}, ${minutes} min left`;
}
