import { parseArgs } from 'node:util';

// A replacement for curl: prints the response to one request.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    data: { type: 'string', short: 'd' },
    header: { type: 'string', short: 'H', multiple: true },
  },
});
const { data, header = [] } = values;
const response = await fetch(positionals[0] ?? '', {
  method: data === undefined ? 'GET' : 'POST',
  headers: header.map((line) => line.split(/: */, 2) as [string, string]),
  body: data ?? null,
});
process.stdout.write(await response.text());
