import { resolve } from 'node:path';
import { defineInstanceCommand, optional, required } from '../terminal/command.ts';

export const backupCommand = defineInstanceCommand({
  name: 'backup',
  summary: 'copy a self-hosted instance, running or not, to a file',
  details: 'The copy does not contain the master key: back up the key separately.',
  isAudited: true,
  arguments: [required('FILE', 'the file to create')],
  options: {},
  examples: ['backup north.backup --data ./north'],
  run: async ({ arguments: [path], location, stderr }) => {
    const { backUp } = await import('./backupFiles.ts');
    const file = resolve(path);
    await backUp(location, file, stderr);
    return {
      json: { file },
      text: `the backup ${file} contains password hashes, so only the file's owner can read it; to restore the backup, you also need the master key, which is not in the backup`,
    };
  },
});

export const restoreCommand = defineInstanceCommand({
  name: 'restore',
  summary: 'create a self-hosted instance from a backup',
  instance: 'created',
  isAudited: true,
  arguments: [required('FILE', 'the backup')],
  options: {
    key: optional('FILE', 'copy of master.key; by default IDENTITY_MASTER_KEY, or master.key in the directory'),
  },
  examples: ['restore north.backup --data ./restored --key north.key'],
  prepare: async ({ arguments: [file], options: { key }, stderr }, location) => {
    const { restoreBackup } = await import('./backupFiles.ts');
    await restoreBackup(location, file, { key, stderr });
  },
  run: async ({ store, location: { directory } }) => {
    const { describeInstance } = await import('../../shared/store/instance.ts');
    const { instance: name } = await describeInstance(store);
    return { json: { name, directory }, text: `instance ${name} is restored in ${directory}` };
  },
});
