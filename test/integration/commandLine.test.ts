import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { init } from '../support/instances/commandInstance.ts';
import { identity } from '../support/processes/programs.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

describe('a wrong command line', () => {
  it.each([
    [['nonsense'], /^identity: unknown command nonsense: .*\n$/],
    [['pat'], /^identity: unknown command pat: .*\n$/],
    [['pat', 'make', '--data', 'x'], /^identity: unknown command pat make --data x: .*\n$/],
    [['init'], /^identity: specify either --data DIR .* or --firestore .*\n$/],
    [['init', '--data', 'x', '--firestore', 'y'], /^identity: specify either --data DIR .*\n$/],
    [['init', '--data', ''], /^identity: empty --data: specify a directory\n$/],
    [
      ['init', '--firestore', 'a/b/c'],
      /^identity: invalid --firestore a\/b\/c: specify PROJECT or PROJECT\/DATABASE\n$/,
    ],
    [['init', '--data'], /^identity: .*--data.*; usage: identity init .*\n$/],
    [['init', '--colour', 'red'], /^identity: Unknown option '--colour'.*; usage: identity init .*\n$/],
    [['otp-email', 'enable', '--data', 'x'], /^identity: usage: identity otp-email enable USER_ID\n$/],
    [['otp-email', 'enable', '1', '2', '--data', 'x'], /^identity: usage: identity otp-email enable USER_ID\n$/],
  ])('%j is answered with one line, exit code 1 and no change', async (args, message) => {
    const { path, remove } = await temporaryDirectory();
    const { code, stdout, stderr } = await identity(args, { cwd: path });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    await remove();
  });

  it.each([
    [['pat', 'create'], 'missing option --user'],
    [['member', 'add', '--user', '1'], 'missing option --role'],
    [['pat', 'revoke'], 'specify either TOKEN_ID or --all --user ID'],
    [['pat', 'revoke', '--all'], 'specify either TOKEN_ID or --all --user ID'],
    [['pat', 'revoke', '--user', '1'], 'specify either TOKEN_ID or --all --user ID'],
    [['pat', 'revoke', '--all', '--user', '1', 'abc'], 'specify either TOKEN_ID or --all --user ID'],
    [
      ['init', '--expires', '30'],
      'invalid --expires 30: specify a lifetime such as 30d, 12h or 45m, at most 90d (MAX_TOKEN_DAYS)',
    ],
    [
      ['init', '--expires', '0d'],
      'invalid --expires 0d: specify a lifetime such as 30d, 12h or 45m, at most 90d (MAX_TOKEN_DAYS)',
    ],
    [
      ['init', '--expires', '91d'],
      'invalid --expires 91d: specify a lifetime such as 30d, 12h or 45m, at most 90d (MAX_TOKEN_DAYS)',
    ],
    [['pat', 'create', '--user', '1', '--only', 'all'], 'invalid --only all: choose one of export, import, otp-email'],
    [['serve', '--port', '65536'], 'invalid --port 65536: specify a number from 0 to 65535 (0 picks a free port)'],
    [['serve', '--port', 'http'], 'invalid --port http: specify a number from 0 to 65535 (0 picks a free port)'],
  ])('%j is answered with: %s', async (args, message) => {
    const { path, remove } = await temporaryDirectory();
    if (args[0] !== 'init') await init(['--data', path]);
    const { code, stdout, stderr } = await identity([...args, '--data', path]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `identity: ${message}\n` });
    await remove();
  });

  it.each([
    ['pat', 'list', '--user', '1'],
    ['member', 'add', '--user', '1', '--role', 'IAM_OWNER'],
    ['service-user', 'create', 'robot'],
    ['otp-email', 'enable', '1'],
  ])('%s %s refuses a directory without an instance, and makes none there', async (...args) => {
    const { path, remove } = await temporaryDirectory();
    const mistyped = join(path, 'mistyped');
    const { code, stdout, stderr } = await identity([...args, '--data', mistyped]);
    const message = `identity: no instance in ${mistyped}: create one with identity init\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: message });
    expect(await readdir(path)).toEqual([]);
    await remove();
  });

  it.each([[[]], [['--help']], [['-h']]])('%j prints every command, exit code 0', async (args) => {
    const { code, stdout, stderr } = await identity(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['init', 'serve', 'otp-email enable', 'pat create', 'member add', 'service-user delete']) {
      expect(stdout).toContain(`\n  ${name} `);
    }
  });

  it('--help after a command prints that command alone', async () => {
    const { code, stdout } = await identity(['pat', 'create', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^identity pat create --user ID \[--expires 30d\] .*\n {2}create .*\n$/);
  });
});
