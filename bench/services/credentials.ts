import { createHmac } from 'node:crypto';

/** The configuration of every service, which listens on loopback. */
export const USERNAME = 'admin';
export const PASSWORD = 'correct horse battery staple';
export const SECRET = 'a secret for measurements only, as long as it should be';

const TOKEN_LIFETIME_SECONDS = 24 * 60 * 60;

/** A token that every service accepts during the run, as long as one that they issue. */
export const TOKEN = signToken();

function signToken(): string {
  const exp = Math.floor(Date.now() / 1_000) + TOKEN_LIFETIME_SECONDS;
  const [head, claims] = [{ alg: 'HS256', typ: 'JWT' }, { exp }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = createHmac('sha256', SECRET).update(`${head}.${claims}`).digest('base64url');
  return `${head}.${claims}.${signature}`;
}
