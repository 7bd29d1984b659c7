import jwt from 'jsonwebtoken';
import { respond } from './envelope.mjs';

const { SECRET_TOKEN, AUTH_USERNAME, AUTH_PASSWORD } = process.env;

export function issueToken(req, res) {
  const { username, password } = req.body ?? {};
  if (typeof username !== 'string' || typeof password !== 'string') {
    return respond(res, 400, 'Invalid request payload');
  }
  if (username !== AUTH_USERNAME || password !== AUTH_PASSWORD) {
    return respond(res, 401, 'Invalid credentials');
  }
  const token = jwt.sign({}, SECRET_TOKEN, { algorithm: 'HS256', expiresIn: '15m', noTimestamp: true });
  return respond(res, 200, 'Token generated successfully', { token });
}

export function requireToken(req, res, next) {
  const token = req.headers.authorization;
  if (!token) return respond(res, 401, 'Authorization token required');
  try {
    jwt.verify(token, SECRET_TOKEN, { algorithms: ['HS256', 'HS384', 'HS512'] });
  } catch {
    return respond(res, 401, 'Invalid token');
  }
  return next();
}
