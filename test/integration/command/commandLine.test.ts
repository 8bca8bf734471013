import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../cli/commands/commandLine.ts';
import { commands } from '../../../cli/commands/commands.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { run } from '../../../tools/program.ts';
import { identity, identityJson, identityResult } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { identityAtTerminal, seenLines, terminalMissing } from '../../support/processes/terminal.ts';

it('a family of commands lists its commands, if a call lacks one', async () => {
  const { code, stdout, stderr } = await identity(['pat']);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  for (const name of ['create', 'list', 'revoke']) expect(stderr).toContain(`\n  pat ${name} `);
});

function requireScreen(help: string, lines: number): void {
  const printed = help.trimEnd().split('\n');
  expect(printed.length, help).toBeLessThanOrEqual(lines);
  for (const line of printed) expect(line.length, line).toBeLessThanOrEqual(80);
}

/** Returns the help of a command for a terminal with this many columns. */
async function helpOf(name: string, columns: number): Promise<string> {
  let help = '';
  const output = { writeOut: (text: string) => (help += text), getOutHelpWidth: () => columns };
  const printed = createProgram(async () => {}, output).parseAsync([...name.split(' '), '--help'], { from: 'user' });
  await printed.catch(() => {});
  return help;
}

describe('a command that is printed to be run next', () => {
  it.each([
    ['identity', 'npm run -s identity --'],
    ['test', 'identity'],
    [undefined, 'identity'],
  ])('starts as this process was started: by the npm script %s, with %s', async (script, program) => {
    const env = { npm_lifecycle_event: script };
    const data = join(await testDirectory(), 'north');
    const { stderr } = await identity(['serve', '--data', data], { env });
    expect(stderr).toBe(
      `identity: no instance in ${data}: check the path, or create an instance with \`${program} init\`\n`,
    );
    const { stdout } = await identity(['init', '--data', data], { env });
    expect(stdout).toContain(`\n\nNext\n  ${program} serve --data ${data}\n`);
    const asked = await identity(['pat', 'crate'], { env });
    expect(asked.stderr).toBe("identity: unknown command 'crate': did you mean create?\n");
    const unknown = await identity(['nonsense'], { env });
    expect(unknown.stderr).toBe(`identity: unknown command 'nonsense': run ${program} --help\n`);
    const help = await identity(['org', 'list', '--help'], { env });
    expect(help.stdout).toContain(`\nExample:\n  ${program} org list --data ./north\n`);
  });

  it('is called in JSON and on a page as on the screen', async () => {
    const env = { npm_lifecycle_event: 'identity' };
    const directory = await testDirectory();
    const data = join(directory, 'north');
    await identity(['init', '--data', data], { env });
    const report = join(directory, 'report.html');
    const from = ['--from', await exportFileWith(organisation('acme')), '--to', `sqlite:${data}`];
    const plan = await identityResult(['migrate', ...from, '--dry-run'], { env });
    expect(plan).toMatchObject({ next: expect.stringMatching(/^npm run -s identity -- migrate --from /) });
    const done = await identityResult(['migrate', ...from, '--yes', '--report', report], { env });
    const command = `npm run -s identity -- org delete acme --data ${data}`;
    expect(done).toMatchObject({ takeBack: [{ command }] });
    expect(await readFile(report, 'utf8')).toContain(`<pre>${command}</pre>`);
    const prepared = await identityJson(
      ['migrate', 'prepare', '--token-file', join(directory, 'a.pat'), '--data', data],
      { env },
    );
    expect(prepared).toMatchObject({ undo: expect.stringMatching(/^npm run -s identity -- service-user delete /) });
  });
});

describe('the help', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('%j prints every command on one screen', async (args) => {
    const { code, stdout, stderr } = await identity(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name, summary } of commands)
      expect(stdout).toMatch(new RegExp(`^ {2}${name} {2,}${RegExp.escape(summary)}$`, 'm'));
    expect(stdout).toMatch(/^PLACE: https:\/\/HOST /m);
    const codes =
      '0 done, or equal; 1 failed; 2 not confirmed; 3 finished, with differences or errors listed; 64 usage; 129 interrupted because the terminal closed; 130 interrupted';
    expect(stdout.replace(/\n {2}/g, ' ')).toContain(codes);
    // The next prompt takes a line of the 40.
    requireScreen(stdout, 39);
  });

  it('of every command fits a screen of 40 lines and 80 columns', async () => {
    for (const { name } of commands) {
      const help = await helpOf(name, 80);
      expect(help).toMatch(new RegExp(`^Usage: identity ${name} `));
      requireScreen(help, 40);
    }
  });

  it('of a command lists its options under headings, and each choice once', async () => {
    const { stdout } = await identity(['help', 'migrate']);
    const headings = ['Places and credentials:', 'Selection and conflicts:', 'Run and output:', 'Example:'];
    expect(stdout.split('\n').filter((line) => /^\S.*:$/.test(line))).toEqual(headings);
    expect(stdout.match(/\boverwrite\b/g)).toHaveLength(1);
    expect(stdout).toContain('\nSubcommands: prepare.\n');
  });

  it('is that of a command, or of several, after the word help', async () => {
    for (const words of [['pat', 'create'], ['pat'], ['migrate']])
      expect(await identity(['help', ...words])).toEqual(await identity([...words, '--help']));
  });

  it.skipIf(terminalMissing !== undefined)('fits the terminal, and no option is torn from its value', async () => {
    for (const columns of [80, 50]) {
      const lines = seenLines(await identityAtTerminal(['help', 'migrate'], [], { columns }));
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      const usage = lines.slice(0, lines.indexOf(''));
      expect(usage).toHaveLength(columns === 80 ? 1 : 2);
      for (const line of usage) expect(line).not.toMatch(/--\S+$/);
    }
  });

  it('breaks the words of a meaning that its column cannot hold', async () => {
    for (const { name } of commands) {
      const lines = (await helpOf(name, 50)).split('\n');
      const example = lines.findIndex((line) => line.startsWith('Example'));
      const options = lines.slice(lines.indexOf('') + 1, example);
      expect(options.length).toBeGreaterThan(2);
      for (const line of options) expect(line.length, line).toBeLessThanOrEqual(50);
    }
  });

  it('of a command describes its options, and has an example', async () => {
    const { code, stdout } = await identity(['pat', 'create', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: identity pat create --user USER_ID \[OPTIONS\]\n/);
    expect(stdout).toMatch(/\n {2}--only OPERATIONS\.\.\. {2,}restrict /);
    expect(stdout).toMatch(/\nExample:\n {2}identity pat create --user \d+ .* \\\n {4}--token-file .*\n$/);
  });

  it.each([
    [{ FORCE_COLOR: '1', NO_COLOR: undefined }, true],
    [{ FORCE_COLOR: undefined, NO_COLOR: '1' }, false],
    [{ FORCE_COLOR: undefined, NO_COLOR: undefined }, false],
  ])('is bold only if colours are wanted: %j', async (env, isBold) => {
    const { stdout } = await identity(['--help'], { env });
    expect(stdout.includes('\u001b[1m')).toBe(isBold);
  });

  it('does not fail if its reader closes the pipe', async () => {
    const [command, script] = identityProgram;
    const line = 'set -o pipefail; "$0" "$@" | true && echo passed';
    const { stdout, stderr } = await run('bash', ['-c', line, command, script, '--help']);
    expect({ stdout, stderr }).toEqual({ stdout: 'passed\n', stderr: '' });
  });

  it.each([
    ['| true', 'EPIPE'],
    ['> /dev/full', 'ENOSPC'],
  ])('fails without a stack trace if an export is incomplete: %s', async (output, code) => {
    const file = join(await testDirectory(), 'export.json');
    await writeFile(file, `{"orgs":[]${' '.repeat(1_000_000)}}`);
    const [command, script] = identityProgram;
    const line = `set -o pipefail; "$0" "$@" ${output}; echo $?`;
    const { stdout, stderr } = await run('bash', ['-c', line, command, script, 'export', file, '--to', '-']);
    const problem = `identity: standard output cannot be written (${code}): the printed output is incomplete; the changes that the command has made remain`;
    expect({ stdout, problem: stderr.split('\n').at(-2) }).toEqual({ stdout: '1\n', problem });
    expect(stderr).not.toContain('    at ');
  });

  it('finishes an import whose output is closed or cannot be written, and reports the latter', async () => {
    const directory = await testDirectory();
    const [command, script] = identityProgram;
    const shell = (line: string, ...words: string[]) =>
      run('bash', ['-c', `set -o pipefail; "$0" "$@" ${line}; echo $?`, command, script, ...words]);
    const orgs = ['north', 'south'].map((name) => ({ orgId: name, org: { name } }));
    const [north, south] = await Promise.all(
      orgs.map(async (org) => {
        const file = join(directory, `${org.orgId}.json`);
        await writeFile(file, JSON.stringify({ orgs: [org] }));
        return file;
      }),
    );
    const data = join(directory, 'data');
    await identity(['init', '--data', data]);
    const unread = await shell('| true', 'import', north ?? '', '--json', '--to', `sqlite:${data}`);
    expect(unread.stdout).toBe('0\n');
    const full = await shell('> /dev/full', 'import', south ?? '', '--to', `sqlite:${data}`);
    expect(full).toMatchObject({ stdout: '1\n', stderr: expect.stringContaining('(ENOSPC)') });
    const listed = await identity(['org', 'list', '--data', data]);
    expect(listed.stdout).toMatch(/north.*south/s);
    expect(await shell('| true', 'org', 'list', '--data', data)).toMatchObject({ stdout: '0\n', stderr: '' });
  });
});

describe('--version', () => {
  it.each(['--version', '-V'])('%s prints the version', async (option) => {
    const { code, stdout, stderr } = await identity([option]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
  });
});
