import assert from 'node:assert/strict';
import { parseLog } from '../../test/http/log.ts';
import { PASSWORD, USERNAME } from '../../test/http/service.ts';
import { type ServiceProcess, startService } from '../../test/process/service-process.ts';
import type { Target } from '../book-client.ts';

/** Starts a service in a folder, where clients look for it. */
export function startServiceAt(target: Target, folder: string, dbUrl: string): Promise<ServiceProcess> {
  return startService(folder, {
    DB_URL: dbUrl,
    PORT: `${target.port}`,
    SECRET_TOKEN: target.secret,
    AUTH_USERNAME: USERNAME,
    AUTH_PASSWORD: PASSWORD,
  });
}

/** Ends a service, and asserts that it has lived to see this, and has met no defect. */
export async function stopCleanly(service: ServiceProcess): Promise<void> {
  const { code, output, complaints } = await service.stop();
  assert.deepEqual([code, complaints], [0, '']);
  const defects = parseLog(output.trim().split('\n')).filter(({ err }) => err);
  assert.deepEqual(defects, []);
}
