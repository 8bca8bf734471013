import { describe, expect, it } from 'vitest';
import { type ExitStatus, exitCodes, InterruptedError, UsageError } from '../../../cli/command.ts';
import { describeFault } from '../../../cli/faults.ts';
import { nameInvalid, userUnknown } from '../../../shared/errors/commandErrors.ts';

describe('a fault', () => {
  it.each<[Error, ExitStatus]>([
    [new UsageError('wrong'), 'usage'],
    [nameInvalid('it is blank'), 'usage'],
    [userUnknown('1'), 'failed'],
    [new InterruptedError('interrupted: repeat the command'), 'interrupted'],
    [Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' }), 'failed'],
  ])('%s is printed as it is, and ends as %s', (error, exitStatus) => {
    expect(describeFault(error)).toEqual({ message: error.message, exitStatus });
  });

  it('that nobody expected has no stack, unless LOG_LEVEL is debug', () => {
    const fault = new TypeError('x is not a function');
    const advice = 'run the command with LOG_LEVEL=debug, and report what it prints';
    expect(describeFault(fault)).toEqual({
      message: `unexpected fault: x is not a function: ${advice}`,
      exitStatus: 'failed',
    });
    expect(describeFault(fault, 'debug').message).toMatch(/x is not a function\n\s+at /);
  });
});

describe('the exit codes', () => {
  it('tell what happened', () => {
    const codes = Object.entries(exitCodes).map(([ending, { code }]) => [ending, code]);
    expect(Object.fromEntries(codes)).toEqual({
      done: 0,
      failed: 1,
      consentMissing: 2,
      listed: 3,
      usage: 64,
      interrupted: 130,
    });
  });
});
