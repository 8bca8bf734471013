import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLE_REPORT, sampleReport } from '../../../tools/docs/sampleReport.ts';
import { root, run } from '../../../tools/program.ts';
import {
  manualCommands,
  outputPattern,
  readDocument,
  type ShownCommand,
  shownModule,
  withoutChanging,
} from '../../support/documents/documentation.ts';
import { type LocalStart, startLocal } from '../../support/instances/localStart.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const commands = await manualCommands();

// Only the ports of the commands are changed.
function withPorts(text: string, port: number): string {
  return text.replace(/127\.0\.0\.1:808([012])/g, (_, last: string) => `127.0.0.1:${port + Number(last)}`);
}

const oneLine = (text: string) => text.replace(/(\\\n|\s)+/g, ' ').replaceAll(', "service', ',"service');
// The README shows what the export wrote.
const showsFile = / cat \.local\/export\.json$/;

/** Its commands follow those of the other documents in the same clone, and start other instances. */
const isFirstMigration = ({ path }: ShownCommand) => path === 'docs/migrating.md';

let clone: TemporaryDirectory = { path: '', remove: async () => {} };
beforeAll(async () => {
  clone = await temporaryDirectory();
  const entries = await readdir(root);
  for (const entry of entries.filter((name) => name !== '.local' && name !== '.git')) {
    await symlink(join(root, entry), join(clone.path, entry));
  }
});
afterAll(() => clone.remove());

describe.each([
  { name: 'the documentation', ofGroup: commands.filter((command) => !isFirstMigration(command)) },
  { name: 'the first migration', ofGroup: commands.filter(isFirstMigration) },
])('the commands of $name', ({ name, ofGroup }) => {
  let local: LocalStart | undefined;
  beforeAll(async () => {
    const start = ofGroup.find(({ command }) => command.includes('npm start'))?.command ?? '';
    const [, directory = '.local'] = /LOCAL_DIR=(\S+)/.exec(start) ?? [];
    local = await startLocal({ directory: join(clone.path, directory), cwd: clone.path });
  });
  afterAll(() => local?.stop());

  it.each(ofGroup.filter(({ notRun }) => notRun === undefined))(
    'work in $path under “$heading”: $command',
    async ({ command, output = '' }) => {
      const port = local?.port ?? 0;
      const { code, stdout, stderr } = await run('bash', ['-euc', withPorts(command, port)], {
        cwd: clone.path,
        env: { FIRESTORE_EMULATOR_HOST: undefined },
      });
      const progress = /identity -- (migrate|org delete|rekey|backup)/.test(command) ? expect.any(String) : '';
      expect({ code, stderr }).toEqual({ code: 0, stderr: progress });
      expect(withoutChanging(stdout)).toMatch(outputPattern(withPorts(output, port)));
    },
  );

  if (name === 'the first migration') {
    it('leave the result of which the documents have the report', async () => {
      const { text } = await readDocument(SAMPLE_REPORT);
      const advice = `${SAMPLE_REPORT} is outdated: after the first migration, npm run docs -- .local/first.json`;
      expect(await sampleReport(join(clone.path, '.local/first.json')), advice).toBe(text);
    });
    return;
  }

  it('include a module for pages, which has the documented calls and errors', async () => {
    const code = `import { readFileSync } from 'node:fs';
      ${shownModule(await readDocument('docs/clients.md'))}
      const token = readFileSync('.local/source/owner.pat', 'utf8');
      const show = (removal) => removal.then(console.log, ({ message }) => console.log(message));
      for (const remove of [removeOtpEmail, removeOtpEmail, removeWithClient]) await show(remove(token, '330000000000000201'));`;
    const args = ['--input-type=module', '--eval', withPorts(code, local?.port ?? 0)];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: clone.path });
    expect([stderr, stdout.replace(/[\da-f]{8}(?:-[\da-f]{4,12}){4}/g, '<id>').split('\n')]).toEqual([
      '',
      [
        '330000000000000001',
        "404 COMMAND-b312D: Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D), request <id>",
        "NotFound COMMAND-b312D: Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D), request <id>",
        '',
      ],
    ]);
  });

  it('show all that npm start prints', () => {
    const printed = local?.program.stdout().split('\n') ?? [];
    const curls = printed.filter((line) => /^(curl|\{)/.test(line));
    expect(curls.length).toBeGreaterThanOrEqual(5);
    const shown = commands.map(({ command }) => oneLine(withPorts(command, local?.port ?? 0)).replace(showsFile, ''));
    expect(shown).toEqual(expect.arrayContaining(curls.map(oneLine)));
  });
});
