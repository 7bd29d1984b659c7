import { isIP } from 'node:net';
import { isLogLevel, LOG_LEVELS, type LogLevel } from '../log/log-level.ts';

/** Parsers of variables. Each throws an Error with what the text must be, and without the text. */

/** Each worker opens its own connections to PostgreSQL. */
const WORKERS_MAX = 64;

export function parseString(text: string): string {
  return text;
}

export function parseRequired(text: string): string {
  if (text === '') throw new Error('must be set');
  return text;
}

export function parsePort(text: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error('must be a whole number from 0 to 65535');
  return port;
}

export function parseWorkers(text: string): number {
  const workers = /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (!(workers >= 1 && workers <= WORKERS_MAX))
    throw new Error(`must be a whole number from 1 to ${WORKERS_MAX}`);
  return workers;
}

/** @returns milliseconds */
export function parseSeconds(text: string, min = 1): number {
  const seconds = /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds >= min && seconds <= 3_600)) throw new Error(`must be a whole number from ${min} to 3600`);
  return seconds * 1_000;
}

export function parseConnections(text: string): number {
  const connections = /^[0-9]{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(connections >= 1 && connections <= 1_000_000))
    throw new Error('must be a whole number from 1 to 1000000');
  return connections;
}

export function parseLogLevel(text: string): LogLevel {
  const level = text.toLowerCase();
  if (!isLogLevel(level)) throw new Error(`must be one of ${Object.keys(LOG_LEVELS).join(', ')}`);
  return level;
}

export function parseSwitch(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new Error('must be on or off');
  return text === 'on';
}

export function parseOrigins(text: string): string[] {
  const origins = list(text);
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error('must be a list of origins such as https://books.example, with commas between them');
    }
  }
  return origins;
}

export function parseTrustProxy(text: string): boolean | number | string[] {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[0-9]{1,3}$/.test(text)) return Number(text);
  const addresses = list(text);
  if (!addresses.every(isNetwork)) {
    throw new Error(
      'must be true, false, a number of proxies, or a list of addresses with commas between them',
    );
  }
  return addresses;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([^/]*)(?:\/([1-9][0-9]{0,2}))?$/.exec(text) ?? [];
  return Number(prefix) <= (isIP(address) === 4 ? 32 : 128) && isIP(address) !== 0;
}
