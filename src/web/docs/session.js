/** The token of the user, in memory only. Dispatches `change` events. */
export class Session extends EventTarget {
  #token = '';

  /** The token, or '' when the user is not signed in. */
  get token() {
    return this.#token;
  }

  /** The remaining lifetime of the token, in seconds by the clock of the browser. */
  get secondsLeft() {
    if (this.#token === '') return 0;
    return Math.max(0, Math.round(expiryOf(this.#token) - Date.now() / 1000));
  }

  /**
   * @param {string} username
   * @param {string} password
   * @throws {Error} with the message of an error response
   */
  async signIn(username, password) {
    const response = await fetch('token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const { message, data } = await response.json();
    if (!response.ok) throw new Error(message);
    this.#change(data.token);
  }

  signOut() {
    this.#change('');
  }

  /** @param {string} token */
  #change(token) {
    this.#token = token;
    this.dispatchEvent(new Event('change'));
  }
}

/**
 * The expiry of a token (RFC 7519, section 4.1.4), in seconds since 1970.
 *
 * @param {string} token
 * @returns {number}
 */
function expiryOf(token) {
  const [, payload = ''] = token.split('.');
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).exp;
}
