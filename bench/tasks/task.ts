import { z } from 'zod';

/** The schema of a task: its kind, the number of users it must process, its export file and its database. */
export const taskSchema = z.object({
  name: z.enum([
    'read',
    'inspect',
    'import',
    'import again',
    'export with secrets',
    'export without secrets',
    'raw write',
    'raw read',
  ]),
  users: z.int().positive(),
  file: z.string(),
  location: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('sqlite'), directory: z.string() }),
    z.object({ kind: z.literal('firestore'), projectId: z.string(), databaseId: z.string(), masterKey: z.string() }),
  ]),
});

/** A task to run and measure. */
export type Task = z.infer<typeof taskSchema>;

/** The database that a task works on. */
export type Location = Task['location'];
