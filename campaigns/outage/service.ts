import assert from 'node:assert/strict';
import { parseLog } from '../../test/http/log.ts';
import { PASSWORD, USERNAME } from '../../test/http/service.ts';
import { type ServiceProcess, startService } from '../../test/process/service-process.ts';
import type { Target } from '../book-client.ts';

/** Starts a service in a folder, on the port of its clients. */
export function startServiceAt(target: Target, folder: string, dbUrl: string): Promise<ServiceProcess> {
  return startService(folder, {
    DB_URL: dbUrl,
    PORT: `${target.port}`,
    SECRET_TOKEN: target.secret,
    AUTH_USERNAME: USERNAME,
    AUTH_PASSWORD: PASSWORD,
  });
}

/** Stops a service, and asserts that it exits with 0 and logged no error. */
export async function stopCleanly(service: ServiceProcess): Promise<void> {
  const { code, output, complaints } = await service.stop();
  assert.deepEqual([code, complaints], [0, '']);
  const errors = parseLog(output.trim().split('\n')).filter(({ err }) => err);
  assert.deepEqual(errors, []);
}
