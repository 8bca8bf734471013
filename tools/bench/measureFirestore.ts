import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { temporaryKeyring } from '../../shared/store/secrets/keyring.ts';
import { type Emulator, emptyEmulator } from '../firestoreEmulator.ts';
import { root, run } from '../program.ts';
import type { Figure } from './figures.ts';
import { initialise, type MeasuredPlace, serveInstance } from './measuredServer.ts';
import { exportUsers, importUsers, usersPerSecond } from './measureTransfers.ts';
import { importRequest } from './sample.ts';

const loops = join(root, 'tools/bench/firestoreLoops.ts');
const loopsResult = z.object({ read: z.number(), write: z.number() });

export async function measureFirestore(
  { address }: Emulator,
  directory: string,
  users: number,
): Promise<readonly Figure[]> {
  const [source = '', target = ''] = ['source', 'target'].map((name) => `${name}-${randomUUID()}`);
  const place: MeasuredPlace = {
    options: ['--firestore', source],
    env: { FIRESTORE_EMULATOR_HOST: address, IDENTITY_MASTER_KEY: temporaryKeyring().newest().text },
    files: join(directory, source),
  };
  await initialise(place);
  const { imported, exported } = await transfer(place, users);
  const { code, stdout, stderr } = await run(process.execPath, [loops, source, target], { env: place.env });
  if (code !== 0) throw new Error(`the loops failed: ${stderr}`);
  const { read, write } = loopsResult.parse(JSON.parse(stdout));
  for (const projectId of [source, target]) await emptyEmulator(address, projectId);
  return [
    usersPerSecond('import into Firestore', users, { service: imported, limit: write }),
    usersPerSecond('export from Firestore', users, { service: exported, limit: read }),
  ];
}

async function transfer(place: MeasuredPlace, users: number) {
  await using server = await serveInstance(place);
  const imported = await importUsers(server, importRequest(users), { created: users });
  return { imported, exported: await exportUsers(server) };
}
