/**
 * Parts of `node:http`. An import of it would load all that it exports, also the WebSocket of the browsers: a tenth of a
 * start, and several MB.
 */
export const { IncomingMessage, METHODS, STATUS_CODES } = process.getBuiltinModule('node:http');
