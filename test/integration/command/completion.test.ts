import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../cli/commands.ts';
import { run } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

/** What a shell offers for the last word of a call, which may be empty. */
type Complete = (directory: string, words: readonly string[]) => readonly [command: string, ...args: string[]];

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const list = (words: readonly string[]) => words.map(quote).join(' ');

const shells: Readonly<Record<string, Complete>> = {
  bash: (script, words) => [
    'bash',
    '-c',
    `source ${quote(script)}; COMP_WORDS=(${list(words)}); COMP_CWORD=${words.length - 1}; _identity
     printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Outside of an editor, zsh has no completion: functions stand in for its own, and print what they are given.
  zsh: (script, words) => [
    'zsh',
    '-f',
    '-c',
    `compdef() { : }; _message() { : }
     compadd() { shift; print -l -- "$@" }
     _files() { if [[ "$1" == -/ ]] { print -l -- *(N/) } else { print -l -- *(N) } }
     _describe() { [[ "$1" == -o ]] && shift; print -l -- "\${(@P)2%%:*}" }
     source ${quote(script)}; words=(${list(words)}); CURRENT=${words.length}; _identity`,
  ],
  fish: (script, words) => ['fish', '-c', `source ${quote(script)}; complete -C ${quote(words.join(' '))}`],
};

async function isInstalled(shell: string): Promise<boolean> {
  return (await run('bash', ['-c', `command -v ${shell}`])).code === 0;
}

describe.each(Object.entries(shells))('identity completion %s', (shell, complete) => {
  let directory = '';
  beforeAll(async () => {
    const { path, remove } = await temporaryDirectory();
    directory = join(path, 'directory with spaces');
    await mkdir(join(directory, 'north'), { recursive: true });
    await writeFile(join(directory, 'north.backup'), '');
    await writeFile(join(path, 'script'), (await identity(['completion', shell])).stdout);
    // The script calls the command by its name.
    const [node, program] = identityProgram;
    await writeFile(join(path, 'identity'), `#!/bin/sh\nexec ${quote(node)} ${quote(program)} "$@"\n`);
    await chmod(join(path, 'identity'), 0o755);
    return remove;
  });

  /** Returns what the shell offers, where it begins with the last word. */
  async function offered(...words: readonly string[]): Promise<readonly string[]> {
    const PATH = `${join(directory, '..')}:${process.env.PATH}`;
    const [command, ...args] = complete(join(directory, '..', 'script'), ['identity', ...words]);
    const { code, stdout, stderr } = await run(command, args, { cwd: directory, env: { PATH } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const names = stdout.split('\n').flatMap((line) => line.split('\t')[0]?.replace(/\/$/, '') || []);
    return [...new Set(names.filter((name) => name.startsWith(words.at(-1) ?? '')))].toSorted();
  }

  it('completes commands, options, values and paths', async ({ skip }) => {
    if (!(await isInstalled(shell))) {
      process.stdout.write(`skipped: ${shell} is not installed\n`);
      return skip();
    }
    const first = commands.map(({ name }) => name.split(' ')[0]);
    expect(await offered('')).toEqual(expect.arrayContaining(first));
    expect(await offered('se')).toEqual(['serve', 'service-user']);
    expect(await offered('he')).toEqual(['help']);
    expect(await offered('help', 'se')).toEqual(['serve', 'service-user']);
    expect(await offered('pat', '')).toEqual(expect.arrayContaining(['create', 'list', 'revoke']));
    expect(await offered('pat', 'create', '--o')).toEqual(['--only']);
    expect(await offered('pat', 'create', '--only', '')).toEqual(['export', 'import', 'otp-email']);
    const secrets = ['all', 'keys', 'none', 'otp', 'passwords'];
    expect(await offered('migrate', '--with', '')).toEqual(secrets);
    expect(await offered('export', '--with', 'passwords,')).toEqual(['passwords,keys', 'passwords,otp']);
    expect(await offered('export', '--with', 'none,')).toEqual([]);
    expect(await offered('import', '--with', 'otp,passwords,k')).toEqual(['otp,passwords,keys']);
    expect(await offered('member', 'add', '--user', 'pat', '--role', 'IAM_OWNER')).toEqual([
      'IAM_OWNER',
      'IAM_OWNER_VIEWER',
    ]);
    expect(await offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']));
    expect(await offered('init', '--name', '')).toEqual([]);
    expect(await offered('init', '--data', '')).toEqual(['north']);
    expect(await offered('backup', 'no')).toEqual(['north', 'north.backup']);
    expect(await offered('restore', '--key', 'no')).toEqual(['north', 'north.backup']);
  });
});
