import type { Scenario } from '../measure.ts';
import { cpuPerUser } from '../tasks/process.ts';
import { runTask } from '../tasks/runTask.ts';

/** Reads and inspects the export file without a database: the steps of an import before its first write. */
export const steps: Scenario = {
  prepare: async ({ users, sampleFile, path }) => {
    const task = {
      users,
      file: await sampleFile(users),
      location: { kind: 'sqlite', directory: path('none') },
    } as const;
    return async () => {
      const read = await runTask({ ...task, name: 'read' });
      const inspected = await runTask({ ...task, name: 'inspect' });
      return { readCpu: cpuPerUser(read), inspectCpu: cpuPerUser(inspected) };
    };
  },
};
