/** The credentials of the services under test, with characters that JSON escapes. */
export const CREDENTIALS = {
  username: 'reader',
  password: 'pass "wörd"',
  secret: 'a secret of at least 32 bytes, or so',
};
