import { join } from 'node:path';
import { z } from 'zod';
import type { Measured } from './process.ts';
import { exportAll, importExportFile, inspectExportFile, readExportFile } from './product.ts';

/** The schema of a measurement: its kind, its number of users, its export file and its database. */
export const taskSchema = z.object({
  name: z.enum(['read', 'inspect', 'import', 'import again', 'export', 'raw write', 'raw read']),
  users: z.int().positive(),
  file: z.string(),
  location: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('sqlite'), directory: z.string() }),
    z.object({ kind: z.literal('firestore'), projectId: z.string(), databaseId: z.string(), masterKey: z.string() }),
  ]),
});

/** A measurement to run. */
export type Task = z.infer<typeof taskSchema>;

/** Runs one measurement in this process. Loads only its own store's client, because modules count as memory. */
export async function run({ name, users, file, location }: Task): Promise<Measured> {
  switch (name) {
    case 'read':
      return readExportFile(file);
    case 'inspect':
      return inspectExportFile(file);
    case 'import':
      return importExportFile(file, location, 'created');
    case 'import again':
      return importExportFile(file, location, 'unchanged');
    case 'export':
      return exportAll(location);
    case 'raw write':
      return location.kind === 'sqlite'
        ? (await import('./rawSqlite.ts')).rawSqliteWrite(join(location.directory, 'identity.sqlite'), users)
        : (await import('./rawFirestore.ts')).rawFirestoreWrite(location, users);
    case 'raw read':
      return location.kind === 'sqlite'
        ? (await import('./rawSqlite.ts')).rawSqliteRead(join(location.directory, 'identity.sqlite'))
        : (await import('./rawFirestore.ts')).rawFirestoreRead(location);
  }
}

// The program of one measurement: its argument is the task, its output one line of JSON.
const task = taskSchema.parse(JSON.parse(process.argv[2] ?? ''));
const measured = await run(task);
if (measured.users !== task.users) throw new Error(`${task.name}: ${measured.users} users instead of ${task.users}`);
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
process.stdout.write(`${JSON.stringify({ ...measured, peakMegabytes })}\n`);
