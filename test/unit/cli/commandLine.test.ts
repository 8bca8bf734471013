import { describe, expect, it } from 'vitest';
import {
  type Command,
  defineCommand,
  type ExitStatus,
  exitCodes,
  flag,
  type GivenValues,
  InterruptedError,
  optional,
  repeatable,
  required,
  UsageError,
} from '../../../cli/command.ts';
import { createProgram, namedCommand } from '../../../cli/commandLine.ts';
import { commands } from '../../../cli/commands.ts';
import { describeError, writtenText } from '../../../cli/describeError.ts';
import { parseValues } from '../../../cli/parseValues.ts';
import { generateToken } from '../../../shared/auth/token.ts';
import { nameInvalid, userUnknown } from '../../../shared/errors/commandErrors.ts';
import { internalError } from '../../../shared/errors/identityError.ts';
import { placeFailed } from '../../../shared/errors/placeErrors.ts';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';

describe('every command', () => {
  it.each(commands.map(({ name }) => name))('%s has examples that the parser accepts', async (name) => {
    const { examples } = commands.find((one) => one.name === name) ?? { examples: [] };
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const called: string[] = [];
      const program = createProgram(async (command) => void called.push(command.name));
      const [line = ''] = example.split(' > ');
      await program.parseAsync(line.split(' '), { from: 'user' });
      expect(called).toEqual([name]);
    }
  });

  it('with subcommands has a description of them', () => {
    const program = createProgram(async () => {});
    for (const { name } of commands) {
      const [first = ''] = name.split(' ');
      expect(namedCommand(program, [first]).description(), first).not.toBe('');
    }
  });
});

const newCommand = (name: string): Command =>
  defineCommand({
    name,
    summary: `does ${name}`,
    arguments: [],
    options: {
      'with-all': flag('all'),
      from: optional('FILE', 'the source'),
      org: repeatable('ORG_ID', 'an organisation'),
    },
    examples: [`${name} --from x`],
    run: async () => undefined,
  });

const moves = [newCommand('move'), newCommand('move plan')];

/** Parses a call of a command that has a subcommand with the same options. */
async function parse(...words: readonly string[]): Promise<readonly [name: string, given: GivenValues]> {
  const calls: (readonly [string, GivenValues])[] = [];
  const program = createProgram(async ({ name }, given) => void calls.push([name, given]), {}, moves);
  await program.parseAsync([...words], { from: 'user' });
  const [call] = calls;
  if (call === undefined || calls.length > 1) throw new Error(`${calls.length} calls`);
  return call;
}

describe('the parser', () => {
  it('runs a command that has subcommands, and each of these with its own options', async () => {
    expect(await parse('move', '--from', 'a')).toEqual(['move', { positionals: [], options: { from: ['a'] } }]);
    expect(await parse('move', 'plan', '--from', 'a', '--with-all')).toEqual([
      'move plan',
      { positionals: [], options: { from: ['a'], 'with-all': [] } },
    ]);
  });

  it('collects a repeatable option, and rejects any other that is repeated', async () => {
    const [, { options }] = await parse('move', '--org', '1', '--org=2');
    expect(options).toEqual({ org: ['1', '2'] });
    await expect(parse('move', '--from', 'a', '--from', 'b')).rejects.toThrow('specify the option once');
  });

  it('lists both kinds of options in the help', () => {
    const program = createProgram(async () => {}, {}, moves);
    expect(program.helpInformation()).toContain('\n  move       does move\n  move plan  does move plan\n');
  });
});

/** Parses a call, and returns the message of its error. */
async function messageOf(
  name: string,
  positionals: readonly string[],
  options: Readonly<Record<string, readonly string[]>>,
): Promise<string> {
  const command = commands.find((one) => one.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  try {
    await parseValues(command, { positionals, options });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

describe('the values of a command line', () => {
  it.each([
    ['pat list', [], { user: ['x'] }],
    ['user lock', ['x'.repeat(200)], { data: ['x'] }],
    ['user lock', ['𝔘'.repeat(200)], { data: ['x'] }],
    ['serve', [], { host: ['::1'], port: ['0'] }],
    ['serve', [], { host: ['localhost'], port: ['65535'] }],
    ['pat create', [], { user: ['1'], org: ['1', '2'], expires: ['45m'], only: ['otp-email'] }],
    ['init', [], { firestore: ['project/north'] }],
    ['member add', [], { user: ['1'], role: ['ORG_OWNER'] }],
  ] as const)('are valid in %s %j %j', async (name, positionals, options) => {
    expect(await messageOf(name, positionals, options)).toBe('');
  });

  it('are not repeated in the error if they are a token', async () => {
    const message = await messageOf('pat revoke', [generateToken()], {});
    expect(message).toMatch(/^invalid TOKEN_ID \(a token\): specify the 32 digits that identity pat list shows/);
  });
});

describe('the options of a command', () => {
  it('reach its function parsed, under the described names, and no others', async () => {
    const options = {
      expires: optional('DURATION', ''),
      user: required('USER_ID', ''),
      org: repeatable('ORG_ID', ''),
      all: flag(''),
    };
    const command = defineCommand({
      name: 'pat try',
      summary: '',
      arguments: [required('FILE', ''), repeatable('WORD', '')],
      options,
      examples: ['pat try'],
      run: async ({ arguments: [file, words], options: given }) => {
        const user: string = given.user;
        // @ts-expect-error This option has no description.
        const other: unknown = given.usr;
        return { json: { file, words, ...given, user, other }, text: '' };
      },
    });
    const positionals = ['a', 'b', 'c'];
    const parsed = await parseValues(command, { positionals, options: { expires: ['90s'], user: ['1'], all: [] } });
    expect(parsed).toEqual({
      arguments: ['a', ['b', 'c']],
      options: { expires: { text: '90s', milliseconds: 90_000 }, user: '1', org: [], all: true },
    });
  });
});

describe('a fault', () => {
  it.each<[Error, ExitStatus]>([
    [new UsageError('wrong'), 'usage'],
    [nameInvalid('it is blank'), 'usage'],
    [userUnknown('1'), 'failed'],
    [new InterruptedError('interrupted: repeat the command'), 'interrupted'],
    [Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' }), 'failed'],
  ])('%s is printed unchanged, and ends the command as %s', (error, exitStatus) => {
    expect(describeError(error)).toEqual({ message: error.message, exitStatus });
  });

  it('shows an id from a caller escaped, in one line', () => {
    const { message } = describeError(userUnknown('1\u001b[2J\nidentity: all is well'));
    expect(message).toContain('1\\u{1b}[2J\\nidentity: all is well');
    expect(describeError(new UsageError('\n  PORT is\n  HOST is')).message).toBe('\n  PORT is\n  HOST is');
  });

  it('that hides its cause from remote callers shows it', () => {
    const cause = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    expect(describeError(internalError(cause))).toEqual({ message: cause.message, exitStatus: 'failed' });
  });

  it('of an import is followed by what the import has written, here or in an instance', () => {
    const failure = storeUnavailable(undefined).withDetail({
      '@type': 'type.googleapis.com/identity.v1.ImportProgress',
      written: { org: 1, humanUsers: 1_200 },
      total: { org: 1, humanUsers: 2_000 },
      resumable: true,
    });
    const text = '1,201 of 2,001 records of the file are in the target';
    expect(writtenText(failure)).toBe(text);
    expect(writtenText(placeFailed('https://id.example', failure.message, failure.toJson()))).toBe(text);
    expect(writtenText(storeUnavailable(undefined))).toBeUndefined();
  });

  it('that is unexpected has no stack trace, unless LOG_LEVEL is debug', () => {
    const fault = new TypeError('x is not a function');
    const advice = 'run the command with LOG_LEVEL=debug, and report its output';
    expect(describeError(fault)).toEqual({
      message: `unexpected error: x is not a function: ${advice}`,
      exitStatus: 'failed',
    });
    expect(describeError(fault, 'debug').message).toMatch(/x is not a function\n\s+at /);
  });
});

describe('the exit codes', () => {
  it('distinguish the outcomes of a command', () => {
    const codes = Object.entries(exitCodes).map(([ending, { code }]) => [ending, code]);
    expect(Object.fromEntries(codes)).toEqual({
      done: 0,
      failed: 1,
      unconfirmed: 2,
      listed: 3,
      usage: 64,
      interrupted: 130,
    });
  });
});
