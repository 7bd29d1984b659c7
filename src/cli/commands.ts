import type { Command } from './command.ts';

/** All commands. */
export const COMMANDS = {
  serve: {
    summary: 'serves until SIGTERM or SIGINT; what happens without a command',
    operands: [],
    options: {},
    notes: 'How it serves is said by environment variables, or lines of .env: see README.md.',
    load: () => Promise.reject(new Error('a service is started by src/main.ts')),
  },
  token: {
    summary: 'prints a token, signed with SECRET_TOKEN',
    operands: [],
    options: {
      ttl: { value: 'TIME', meaning: 'how long it is good: 900 (seconds), 15m, 1h or 7d; 15m by default' },
    },
    notes: 'Nothing but the token goes to standard output: TOKEN=$(bookkeeping token)',
    load: () => import('./token.ts'),
  },
  check: {
    summary: 'looks at the configuration and the store, and changes neither',
    operands: [],
    options: {},
    notes: 'A line for each; exit code 0 when a start would succeed, 1 otherwise. It does not try the port.',
    load: () => import('./check.ts'),
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;
