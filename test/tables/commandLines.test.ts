import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram, namedCommand } from '../../cli/commands/commandLine.ts';
import { commands } from '../../cli/commands/commands.ts';
import { parseValues } from '../../cli/commands/parseValues.ts';
import { defineCommand, type GivenValues, required } from '../../cli/terminal/command.ts';
import { identity } from '../support/command.ts';
import { init } from '../support/instances/commandInstance.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { callsOnInstances, parsedCalls, wrongCalls, wrongCallsOnInstances } from './commandLines.ts';

function wordsOf(line: string): string[] {
  return (line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []).map((word) => (word.startsWith('"') ? JSON.parse(word) : word));
}

/** Parses a call, and returns the name of its command and the values that were given. */
async function parse(line: string) {
  const calls: (readonly [name: string, given: GivenValues])[] = [];
  const program = createProgram(async ({ name }, given) => void calls.push([name, given]));
  await program.parseAsync(wordsOf(line), { from: 'user' });
  const [[name, given] = []] = calls;
  const command = commands.find((known) => known.name === name);
  if (command === undefined || given === undefined || calls.length > 1) throw new Error(`${calls.length} calls`);
  const { arguments: positionals, options } = await parseValues(command, given);
  const isGiven = (value: unknown) =>
    !(value === undefined || value === false || (Array.isArray(value) && value.length === 0));
  return [name, positionals, Object.fromEntries(Object.entries(options).filter(([, value]) => isGiven(value)))];
}

let directory = '';
let data = '';
beforeAll(async () => {
  const { path, remove } = await temporaryDirectory();
  [directory, data] = [join(path, 'empty'), join(path, 'data')];
  await mkdir(directory);
  await init(['--data', data]);
  return remove;
});

/** Runs a call in the directory, and expects that it creates nothing. */
async function runIn(words: readonly string[]) {
  const { code, stdout, stderr } = await identity(words, { cwd: directory });
  expect(await readdir(directory)).toEqual([]);
  return { code, stdout, lines: stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"severity"')) };
}

describe('a call', () => {
  it.each(parsedCalls)('is parsed: %s', async (line, ...parsed) => {
    expect(await parse(line)).toEqual(parsed);
  });

  it.each(Object.entries(wrongCalls))('is rejected with one line and exit code 64: %s', async (line, message) => {
    const expected = typeof message === 'string' ? message : expect.stringMatching(message);
    const { lines, ...ended } = await runIn(wordsOf(line));
    expect({ ...ended, message: lines.map((text) => text.replace(/^identity: /, '')) }).toEqual({
      code: 64,
      stdout: '',
      message: [expected],
    });
  });

  it.each(Object.entries(wrongCallsOnInstances))('on an instance is rejected: %s', async (line, message) => {
    const lines = [expect.stringContaining(`identity: ${message}`)];
    expect(await runIn([...wordsOf(line), '--data', data])).toEqual({ code: 64, stdout: '', lines });
  });

  it.each(callsOnInstances)('is rejected in a directory without an instance: %s', async (line) => {
    const mistyped = join(directory, 'mistyped');
    const lines = [
      `identity: no instance in ${mistyped}: check the path, or create an instance with \`identity init\``,
    ];
    expect(await runIn([...wordsOf(line), '--data', mistyped])).toEqual({ code: 1, stdout: '', lines });
  });
});

it('a call on a file instead of a directory is rejected without a stack trace', async () => {
  const file = `${data}.txt`;
  await writeFile(file, '');
  const { code, lines } = await runIn(['init', '--data', file]);
  expect({ code, lines }).toEqual({ code: 1, lines: [expect.stringMatching(/^identity: /)] });
});

describe('every command', () => {
  it.each(commands)('$name has examples that the parser accepts', async ({ name, examples }) => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect((await parse(example.replace(/ > .*/, '')))[0]).toBe(name);
  });

  it('with subcommands has a description of them', () => {
    const program = createProgram(async () => {});
    for (const { name } of commands)
      expect(namedCommand(program, name.split(' ').slice(0, 1)).description(), name).not.toBe('');
  });

  it('gets the values of its described options, and no others', async () => {
    const command = defineCommand({
      name: 'pat try',
      summary: '',
      arguments: [],
      options: { user: required('USER_ID', '') },
      examples: ['pat try'],
      run: async ({ options }) => {
        const user: string = options.user;
        // @ts-expect-error This option has no description.
        return { json: { user, other: options.usr }, text: '' };
      },
    });
    const given = { positionals: [], options: { user: ['1'], usr: ['2'] } };
    expect(await parseValues(command, given)).toEqual({ arguments: [], options: { user: '1' } });
  });
});
