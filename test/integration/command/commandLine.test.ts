import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createProgram } from '../../../cli/commandLine.ts';
import { commands } from '../../../cli/commands.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { run } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { init } from '../../support/instances/commandInstance.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { identityAtTerminal, seenLines, terminalMissing } from '../../support/processes/terminal.ts';

const noDatabase = 'specify either --data DIR (self-hosted) or --firestore PROJECT[/DATABASE]';
const spans = 'specify a duration such as 30d, 12h, 45m or 90s';
const ports = 'specify a number from 0 to 65535 (0 picks a free port)';
const ids = 'specify an id of 1 to 200 characters';

async function newDirectory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

describe('a wrong command line', () => {
  it.each([
    [['nonsense'], "unknown command 'nonsense': run identity --help"],
    [['sevre', '--data', 'x'], "unknown command 'sevre': did you mean serve?"],
    [['pat', 'revok', '--data', 'x'], "unknown command 'revok': did you mean revoke?"],
    [['migrate', 'rezume', '--yes'], "unknown command 'rezume': did you mean resume?"],
    [['pat', 'create', '--usr', '1'], "unknown option '--usr': did you mean --user?"],
    [
      ['migrate', 'resume', '--with', 'passwords'],
      "unknown option '--with': identity migrate accepts it only at the start; it cannot be added later",
    ],
    [
      ['migrate', 'resume', '--report', 'report.html'],
      "unknown option '--report': identity migrate accepts it only at the start; identity migrate report --to FILE.html writes it",
    ],
    [['--colour', 'red'], "unknown option '--colour': run identity --help"],
    [['init', '--colour', 'red'], "unknown option '--colour': run identity init --help"],
    [['init'], noDatabase],
    [['init', '--data', 'x', '--firestore', 'y'], noDatabase],
    [['init', '--data', ''], 'invalid --data "": specify a directory'],
    [['init', '--firestore', 'a/b/c'], 'invalid --firestore a/b/c: specify PROJECT or PROJECT/DATABASE'],
    [['init', '--data'], "option '--data DIR' argument missing: run identity init --help"],
    [['init', '--data', '--json'], 'missing value of --data, before --json'],
    [
      ['member', 'add', '--org', '1', '--org', '2'],
      "option '--org ORG_ID' is repeated: specify the option once: run identity member add --help",
    ],
    [['otp-email', 'enable'], "missing required argument 'USER_ID': run identity otp-email enable --help"],
    [
      ['otp-email', 'enable', '1', '2', '--data', 'x'],
      "too many arguments for 'enable'. Expected 1 argument but got 2: 1, 2: run identity otp-email enable --help",
    ],
    [['pat', 'create'], 'missing option --user: run identity pat create --help'],
    [['member', 'add', '--user', '1'], 'missing option --role: run identity member add --help'],
    [
      ['member', 'add', '--user', '1', '--role', 'QUEEN'],
      expect.stringMatching(/^invalid --role QUEEN: choose one of IAM_OWNER, .*, ORG_OWNER, /),
    ],
    [['pat', 'create', '--user', ''], `invalid --user "": ${ids}`],
    [['user', 'list', '--org', ''], `invalid --org "": ${ids}`],
    [['user', 'lock', 'x'.repeat(201)], `invalid USER_ID ${'x'.repeat(201)}: ${ids}`],
    [
      ['pat', 'create', '--user', '1', '--only', 'export,all'],
      'invalid --only export,all: specify some of export, import, otp-email, separated by commas',
    ],
    [
      ['export', 'firestore:p', '--to', 'gs://exports/north.json', '--org', 'a', '--exclude-org', 'a'],
      '--exclude-org names every organisation of --org: correct one of them',
    ],
    [['pat', 'create', '--user', '1', '--expires', '1 d'], `invalid --expires "1 d": ${spans}`],
    [
      ['pat', 'revoke', `idpat_${'x'.repeat(51)}`],
      `invalid TOKEN_ID idpat_${'x'.repeat(51)}: specify the 32 digits that identity pat list shows, not the token itself`,
    ],
    [['init', '--expires', '30'], `invalid --expires 30: ${spans}`],
    [['audit', '--since', 'yesterday'], `invalid --since yesterday: ${spans}`],
    [['serve', '--port', '65536'], `invalid --port 65536: ${ports}`],
    [['serve', '--port', 'http'], `invalid --port http: ${ports}`],
    [['serve', '--port', '-1'], `invalid --port -1: ${ports}`],
    [
      ['serve', '--host', 'two words'],
      'invalid --host "two words": specify an address of this machine, such as 127.0.0.1',
    ],
    [['pat', 'list', '--user', '\u001b[2J'.repeat(60)], expect.stringMatching(/^invalid --user "\\u001b/)],
    [['serve', '--host', ''], 'invalid --host "": specify an address of this machine, such as 127.0.0.1'],
    [['backup', ''], 'invalid FILE "": specify a path'],
  ])('%j is answered with one line, exit code 64 and no change', async (args, message) => {
    const cwd = await newDirectory();
    const { code, stdout, stderr } = await identity(args, { cwd });
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(/^identity: [^\n]*\n$/);
    expect(stderr.slice('identity: '.length, -1)).toEqual(message);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('is answered with the subcommands, if it lacks one', async () => {
    const { code, stdout, stderr } = await identity(['pat']);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    for (const name of ['create', 'list', 'revoke']) expect(stderr).toContain(`\n  pat ${name} `);
  });
});

describe('a wrong call on an instance', () => {
  let data = '';
  beforeAll(async () => {
    const { path, remove } = await temporaryDirectory();
    data = path;
    await init(['--data', data]);
    return remove;
  });

  const either = 'specify either TOKEN_ID or --all --user ID';
  const lifetimes = 'specify a lifetime such as 30d, 12h, 45m or 90s, at most 90d (MAX_TOKEN_DAYS)';
  it.each<[readonly string[], string]>([
    [['pat', 'revoke'], either],
    [['pat', 'revoke', '--all'], either],
    [['pat', 'revoke', '--user', '1'], either],
    [['pat', 'revoke', '--all', '--user', '1', 'a'.repeat(32)], either],
    [['pat', 'create', '--user', '1', '--expires', '0d'], `invalid --expires 0d: ${lifetimes}`],
    [['pat', 'create', '--user', '1', '--expires', '91d'], `invalid --expires 91d: ${lifetimes}`],
    [['org', 'delete', 'C', '', '--yes'], `invalid ORG_ID "": ${ids}`],
    [['org', 'delete', '--yes'], "missing required argument 'ORG_ID'"],
    [
      ['org', 'delete', ...Array.from({ length: 201 }, (_, index) => `${index}`), '--yes'],
      '201 organisations: specify at most 200',
    ],
    // No import would take these names either.
    ...['', ' ', 'x'.repeat(201), 'a\nb', 'a\u001b[2Jb', 'a\u0085b'].map((name): [readonly string[], string] => [
      ['service-user', 'create', name],
      'invalid name: ',
    ]),
  ])('%j is answered with: %s', async (args, message) => {
    const { code, stdout, stderr } = await identity([...args, '--data', data]);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    const lines = stderr
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('{'));
    expect(lines).toEqual([expect.stringContaining(`identity: ${message}`)]);
  });
});

describe('a directory without an instance', () => {
  it.each([
    [['serve', '--port', '0']],
    [['pat', 'list', '--user', '1']],
    [['member', 'add', '--user', '1', '--role', 'IAM_OWNER']],
    [['service-user', 'create', 'robot']],
    [['otp-email', 'enable', '1']],
    [['backup', 'copy']],
  ])('is rejected by %j, which creates nothing', async (args) => {
    const path = await newDirectory();
    const mistyped = join(path, 'mistyped');
    const { code, stdout, stderr } = await identity([...args, '--data', mistyped], { cwd: path });
    const message = `identity: no instance in ${mistyped}: create one with identity init\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: message });
    expect(await readdir(path)).toEqual([]);
  });

  it('that is an address is rejected with advice for one', async () => {
    const { code, stderr } = await identity(['org', 'delete', '1', '--data', 'http://localhost:8080']);
    expect(code).toBe(64);
    expect(stderr).toContain("http://localhost:8080 is an address: specify the instance's directory by --data DIR");
  });

  it('that is a file is rejected without a stack trace', async () => {
    const file = join(await newDirectory(), 'file');
    await writeFile(file, '');
    const { code, stderr } = await identity(['init', '--data', file]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^identity: [^\n]+\n$/) });
  });
});

function requireScreen(help: string, lines: number): void {
  const printed = help.trimEnd().split('\n');
  expect(printed.length, help).toBeLessThanOrEqual(lines);
  for (const line of printed) expect(line.length, line).toBeLessThanOrEqual(80);
}

describe('a command that is printed to be run next', () => {
  it.each([
    ['identity', 'npm run -s identity --'],
    ['test', 'identity'],
    [undefined, 'identity'],
  ])('starts as this process was started: by the npm script %s, with %s', async (script, program) => {
    const env = { npm_lifecycle_event: script };
    const data = join(await newDirectory(), 'north');
    const { stderr } = await identity(['serve', '--data', data], { env });
    expect(stderr).toBe(`identity: no instance in ${data}: create one with ${program} init\n`);
    const { stdout } = await identity(['init', '--data', data], { env });
    expect(stdout).toContain(`\n\nNext\n  ${program} serve --data ${data}\n`);
    const asked = await identity(['pat', 'crate'], { env });
    expect(asked.stderr).toBe("identity: unknown command 'crate': did you mean create?\n");
  });
});

describe('the help', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('%j prints every command on one screen', async (args) => {
    const { code, stdout, stderr } = await identity(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name, summary } of commands)
      expect(stdout).toMatch(new RegExp(`^ {2}${name} {2,}${RegExp.escape(summary)}$`, 'm'));
    expect(stdout).toMatch(/^PLACE: https:\/\/HOST /m);
    expect(stdout).toMatch(/ 130 interrupted$/m);
    // The next prompt takes a line of the 40.
    requireScreen(stdout, 39);
  });

  it('of every command fits a screen of 40 lines and 80 columns', async () => {
    for (const { name } of commands) {
      let help = '';
      const program = createProgram(async () => {}, { writeOut: (text) => (help += text) });
      await program.parseAsync([...name.split(' '), '--help'], { from: 'user' }).catch(() => {});
      expect(help).toMatch(new RegExp(`^Usage: identity ${name} `));
      requireScreen(help, 40);
    }
  });

  it('of a command lists its options under headings, and each choice once', async () => {
    const { stdout } = await identity(['help', 'migrate']);
    const headings = ['Places and credentials:', 'Selection and conflicts:', 'Run and output:', 'Example:'];
    expect(stdout.split('\n').filter((line) => /^\S.*:$/.test(line))).toEqual(headings);
    expect(stdout.match(/\boverwrite\b/g)).toHaveLength(1);
    expect(stdout).toContain('\nSubcommands: prepare, plan, resume, report, cleanup.\n');
  });

  it('is that of a command, or of several, after the word help', async () => {
    for (const words of [['pat', 'create'], ['pat'], ['migrate']])
      expect(await identity(['help', ...words])).toEqual(await identity([...words, '--help']));
    const stderr = "identity: unknown command 'pat crate': run identity pat --help\n";
    expect(await identity(['help', 'pat', 'crate'])).toEqual({ code: 64, stdout: '', stderr, trail: '' });
  });

  it.skipIf(terminalMissing !== undefined)('fits the terminal, and no option is torn from its value', async () => {
    for (const columns of [80, 50]) {
      const lines = seenLines(await identityAtTerminal(['help', 'migrate', 'plan'], [], { columns }));
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      const usage = lines.slice(0, lines.indexOf(''));
      expect(usage).toHaveLength(columns === 80 ? 1 : 2);
      for (const line of usage) expect(line).not.toMatch(/--\S+$/);
    }
  });

  it.skipIf(terminalMissing !== undefined)('breaks the words of a meaning that its column cannot hold', async () => {
    for (const words of [['export'], ['import'], ['migrate', 'plan']]) {
      const lines = seenLines(await identityAtTerminal(['help', ...words], [], { columns: 50 }));
      const options = lines.slice(
        lines.indexOf('Places and credentials:'),
        lines.findIndex((line) => line.startsWith('Example')),
      );
      expect(options.length).toBeGreaterThan(10);
      for (const line of options) expect(line.length).toBeLessThanOrEqual(50);
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
    const file = join(await newDirectory(), 'export.json');
    await writeFile(file, `{"orgs":[]${' '.repeat(1_000_000)}}`);
    const [command, script] = identityProgram;
    const line = `set -o pipefail; "$0" "$@" ${output}; echo $?`;
    const { stdout, stderr } = await run('bash', ['-c', line, command, script, 'export', file, '--to', '-']);
    const problem = `identity: standard output cannot be written (${code}): what was printed is incomplete; what the command changed remains`;
    expect({ stdout, problem: stderr.split('\n').at(-2) }).toEqual({ stdout: '1\n', problem });
    expect(stderr).not.toContain('    at ');
  });

  it('finishes an import whose output is closed or cannot be written, and reports the latter', async () => {
    const directory = await newDirectory();
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
    await shell('', 'init', '--data', data);
    const unread = await shell('| true', 'import', north ?? '', '--json', '--to', `sqlite:${data}`);
    expect(unread.stdout).toBe('0\n');
    const full = await shell('> /dev/full', 'import', south ?? '', '--to', `sqlite:${data}`);
    expect(full).toMatchObject({ stdout: '1\n', stderr: expect.stringContaining('(ENOSPC)') });
    const listed = await shell('| cat', 'org', 'list', '--data', data);
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
