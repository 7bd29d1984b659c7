import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseGenerator } from '../load/generator.ts';
import { TOKEN } from '../services/credentials.ts';
import type { Service } from '../services/service.ts';

interface RateLoad {
  /** `METHOD PATH [BODY]`, which connections repeat. */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

const generator = chooseGenerator();

/** @returns requests/s @throws Error when a request fails */
export async function rateOf({ server, program }: Service, load: RateLoad): Promise<number> {
  const { requests, connections, seconds } = load;
  const requestsFile = join(program.folder, 'requests');
  await writeFile(requestsFile, requests.join('\n'));
  const result = await generator.run({ url: server.url, requestsFile, token: TOKEN, connections, seconds });
  if (result.failures > 0) throw new Error(`${result.failures} requests failed: ${requests[0]}`);
  server.truncateLog();
  return result.responses / result.seconds;
}
