import { describe, expect, it } from 'vitest';
import { eventParams, judge } from '../../../../../cli/zitadel/import/evidence.ts';

/** Events by the caller, or by the user named before a colon. */
function history(...given: readonly string[]) {
  return given.map((text, index) => {
    const [type = '', editorId = 'caller'] = text.split(':').toReversed();
    return { type, editorId, createdAt: BigInt(index) * 1_000_000n };
  });
}

const verdictOf = (...given: readonly string[]) => judge(history('user.human.added', ...given), 'caller').is;

describe('the verdict about a record', () => {
  it.each([
    ...['user.human.added', 'user.machine.added', 'org.added', 'project.added', 'project.application.added'],
    ...['project.grant.added', 'user.grant.added', 'action.added'],
  ])('is "ours" if the caller created it: %s', (type) => {
    expect(judge(history(type), 'caller')).toEqual({ is: 'ours' });
    expect(judge(history(`admin:${type}`), 'caller')).toMatchObject({ is: 'foreign', event: { editorId: 'admin' } });
    expect(judge(history(`admin:${type}`), 'admin')).toEqual({ is: 'ours' });
  });

  it('is "foreign" without the event of a creation', () => {
    expect(judge([], 'caller')).toEqual({ is: 'foreign' });
    expect(judge(history('user.human.mfa.otp.added', 'project.member.added'), 'caller')).toEqual({ is: 'foreign' });
  });

  it('depends on the newest creation', () => {
    const admins = ['admin:user.human.added', 'admin:user.human.mfa.otp.removed', 'admin:user.removed'];
    expect(judge(history(...admins, 'user.human.added'), 'caller')).toEqual({ is: 'ours' });
    expect(
      judge(history('user.human.added', 'user.removed', 'self:user.human.selfregistered'), 'caller'),
    ).toMatchObject({ is: 'foreign', event: { editorId: 'self' } });
  });

  it.each([
    'user.metadata.set',
    'user.human.profile.changed',
    'user.human.externalidp.added',
    'user.human.initialization.code.added',
    'user.deactivated',
  ])('stays "ours" after a change by the caller: %s', (type) => {
    expect(verdictOf(type)).toBe('ours');
    expect(verdictOf(`admin:${type}`)).toBe('changed');
  });

  it.each([
    ...['user.human.password.check.succeeded', 'user.human.password.check.failed'],
    ...['user.human.externallogin.check.succeeded', 'user.human.email.verification.failed'],
    ...['user.human.initialization.check.failed', 'user.human.initialization.code.sent'],
    ...['user.human.email.code.sent', 'user.human.password.hash.updated', 'user.human.mfa.init.skipped'],
    ...['user.human.signed.out', 'user.token.added', 'user.human.refresh.token.added'],
    'user.machine.secret.updated',
  ])('stays "ours" after sign-ins and messages: %s', (type) => {
    expect(verdictOf(`self:${type}`)).toBe('ours');
  });

  it.each([
    ...['admin:user.human.password.changed', 'admin:user.pat.added', 'admin:user.locked'],
    ...['self:user.human.initialization.check.succeeded', 'self:user.human.invite.check.succeeded'],
    ...['self:user.human.email.verified', 'self:user.human.mfa.otp.removed', 'admin:user.an.unknown.event'],
  ])('is "changed" after another user changed it: %s', (event) => {
    expect(verdictOf('user.metadata.set', event)).toBe('changed');
  });

  it.each(['user.reactivated', 'user.unlocked'])('is "opened" after somebody opened it: %s', (type) => {
    expect(verdictOf('user.deactivated', type)).toBe('opened');
    expect(verdictOf('admin:user.human.profile.changed', `admin:${type}`)).toBe('opened');
  });

  it.each([
    'user.human.mfa.otp.added',
    'user.human.mfa.otp.removed',
    'user.human.mfa.otp.email.added',
    'user.human.mfa.u2f.token.added',
    'user.human.passwordless.token.removed',
  ])('is "factors" after the caller added or removed a factor: %s', (type) => {
    expect(verdictOf('user.metadata.set', type)).toBe('factors');
  });

  it('is explained by an event with its user and its time', () => {
    const events = history('user.human.added', 'admin:user.human.mfa.otp.removed');
    const verdict = judge(events, 'caller');
    expect(verdict).toMatchObject({ is: 'changed', event: events[1] });
    expect(events.slice(1).map(eventParams)).toEqual([
      { event: 'user.human.mfa.otp.removed', user: 'admin', time: '1970-01-01T00:00:01.000Z' },
    ]);
  });
});
