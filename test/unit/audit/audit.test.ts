import { describe, expect, it } from 'vitest';
import { Audit, commandEvent } from '../../../shared/audit/audit.ts';
import { type AuditEvent, organisationFacts } from '../../../shared/audit/auditEvent.ts';
import { deadlineExceeded, operationDenied } from '../../../shared/errors/errors.ts';
import { auditUnwritable } from '../../../shared/errors/storeErrors.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';

const origin = { requestId: 'r1', remote: '192.0.2.1' };
const who = { userId: 'u1', tokenId: 't1' };
const logged = capturedLog();

const brokenTrail = () => memoryTrail(() => Promise.reject(new Error('no space left on device')));

describe('the audit trail of a call', () => {
  it('has one final event, of the first end', async () => {
    const { audit, events } = memoryTrail();
    const call = audit.call('import', origin);
    await call.begin({});
    await Promise.all([call.end(deadlineExceeded()), call.end()]);
    await audit.close();
    expect(events.map(({ outcome }) => outcome)).toEqual(['started', 'DEADLINE_EXCEEDED']);
  });

  it('has a final event when the process shuts down', async () => {
    const { audit, events } = memoryTrail();
    await audit.call('import', origin).begin({});
    await audit.close();
    expect(events.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['import.started', 'started'],
      ['import.finished', 'UNAVAILABLE'],
    ]);
  });
});

describe('the audit event of a removal whose trail joins its commit', () => {
  /** A transaction that records its writes. */
  function joiningTrail() {
    const joined: AuditEvent[] = [];
    const appended: AuditEvent[] = [];
    const unused = () => expect.unreachable();
    const transaction = { getMany: unused, write: unused, hold: unused, record: unused, changedAfter: unused };
    const audit = new Audit({
      append: async (event) => void appended.push(event),
      join: (event) => void joined.push(event),
      close: async () => {},
    });
    return { audit, joined, appended, transaction };
  }

  it('is part of each attempt of the transaction, and written nowhere else', async () => {
    const { audit, joined, appended, transaction } = joiningTrail();
    const call = audit.call('otp-email', origin);
    call.identify(who);
    await call.run(async () => {
      for (const target of ['first', 'second']) await call.beginIn(transaction, { target });
    });
    await audit.close();
    const event = { time: expect.any(String), event: 'otpEmail.removed', outcome: 'ok', ...who, ...origin };
    expect(joined).toEqual([
      { ...event, target: 'first' },
      { ...event, target: 'second' },
    ]);
    expect(appended).toEqual([]);
  });

  it('is missing if the commit fails, and the log contains an event that could not be written', async () => {
    const { audit, appended, transaction } = joiningTrail();
    for (const error of [deadlineExceeded(), auditUnwritable({}, { cause: new Error('no space left') })]) {
      const call = audit.call('otp-email', origin);
      const failing = call.run(async () => {
        await call.beginIn(transaction, { target: 'ada' });
        throw error;
      });
      await expect(failing).rejects.toBe(error);
    }
    await audit.close();
    expect(appended).toEqual([]);
    expect(logged().match(/"event":"otpEmail.removed".*no space left.*"message":"audit failed"/g)).toHaveLength(1);
  });

  it('is written once, before the transaction, if the trail is outside the database', async () => {
    const { audit, events } = memoryTrail();
    const { transaction } = joiningTrail();
    const call = audit.call('otp-email', origin);
    await call.run(async () => {
      for (const target of ['first', 'second']) await call.beginIn(transaction, { target });
    });
    expect(events).toEqual([expect.objectContaining({ event: 'otpEmail.removed', outcome: 'ok', target: 'first' })]);
  });
});

describe('an audit trail that cannot be written', () => {
  it('prevents a call, and is logged', async () => {
    const call = brokenTrail().audit.call('export', origin);
    await expect(call.begin({})).rejects.toThrow('no space left');
    expect(logged()).toMatch(/"severity":"ERROR".*"event":"export.started".*no space left.*"message":"audit failed"/);
  });

  it('does not change the response to a denied call, and is logged', async () => {
    const { audit } = brokenTrail();
    const call = audit.call('import', origin);
    call.identify(who);
    await expect(call.run(() => Promise.reject(operationDenied()))).rejects.toThrow(operationDenied().message);
    await audit.close();
    expect(logged()).toMatch(/"event":"import.denied".*"message":"audit failed"/);
  });

  it('does not undo a call that has begun, and is logged', async () => {
    let writable = true;
    const { audit } = memoryTrail(async () => {
      if (!writable) throw new Error('no space left on device');
    });
    const call = audit.call('import', origin);
    await call.run(async () => {
      await call.begin({});
      writable = false;
    });
    expect(logged()).toMatch(/"event":"import.finished".*"message":"audit failed"/);
  });
});

describe('the names and facts of audit events', () => {
  it('match those of commands', () => {
    expect(['init', 'pat create', 'service-user delete', 'otp-email enable'].map(commandEvent)).toEqual([
      'command.init',
      'command.patCreate',
      'command.serviceUserDelete',
      'command.otpEmailEnable',
    ]);
  });

  it('list at most 20 organisations, then their number, and shorten long ids', () => {
    const orgIds = Array.from({ length: 21 }, (_, index) => `o${index}`);
    expect(organisationFacts(orgIds)).toEqual({ orgIds: orgIds.slice(0, 20), orgCount: 21 });
    expect(organisationFacts(['o'.repeat(1_000)])).toEqual({ orgIds: ['o'.repeat(200)] });
  });
});
