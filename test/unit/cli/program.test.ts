import { describe, expect, it } from 'vitest';
import { type Command, defineCommand, flag, type GivenValues, optional, repeatable } from '../../../cli/command.ts';
import { createProgram } from '../../../cli/commandLine.ts';

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

const tables = [{ title: 'Moves', commands: [newCommand('move'), newCommand('move plan')] }];

/** Parses a call of a command that has a subcommand with the same options. */
async function parse(...words: readonly string[]): Promise<readonly [name: string, given: GivenValues]> {
  const calls: (readonly [string, GivenValues])[] = [];
  const program = createProgram(async ({ name }, given) => void calls.push([name, given]), {}, tables);
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

  it('collects an option that can be repeated, and rejects another one that is', async () => {
    const [, { options }] = await parse('move', '--org', '1', '--org=2');
    expect(options).toEqual({ org: ['1', '2'] });
    await expect(parse('move', '--from', 'a', '--from', 'b')).rejects.toThrow('specify the option once');
  });

  it('lists both in the help', () => {
    const program = createProgram(async () => {}, {}, tables);
    expect(program.helpInformation()).toMatch(/Moves:.*\n {2}move {2,}does move\n {2}move plan {2,}does move plan\n/s);
  });
});
