import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuditEvent } from '../../../shared/audit/auditEvent.ts';
import { DeniedCalls } from '../../../shared/audit/deniedCalls.ts';

const MINUTE_MS = 60_000;
let written: AuditEvent[] = [];
let denied = new DeniedCalls(
  async () => {},
  () => new Date(),
);

beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  denied = new DeniedCalls(
    async (event) => void written.push(event),
    () => new Date(),
  );
});
afterEach(() => {
  vi.useRealTimers();
});

function denial(more: Partial<AuditEvent> = {}): AuditEvent {
  return { time: new Date().toISOString(), event: 'export.denied', outcome: 'UNAUTHENTICATED', ...more };
}

describe('denied calls', () => {
  it('are written at once, and equal ones once more after a minute, with their number', () => {
    for (let call = 0; call < 1_000; call++) denied.add(denial({ remote: '192.0.2.1', requestId: `r${call}` }));
    expect(written).toEqual([expect.objectContaining({ remote: '192.0.2.1', requestId: 'r0' })]);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(written.slice(1)).toEqual([expect.objectContaining({ remote: '192.0.2.1', repeated: 999 })]);
  });

  it('that differ in event, error, token or address are written apart', () => {
    const differing = [
      {},
      { event: 'import.denied' },
      { outcome: 'PERMISSION_DENIED' },
      { tokenId: 't' },
      { remote: 'r' },
    ];
    for (const more of [...differing, ...differing]) denied.add(denial(more));
    expect(written).toHaveLength(differing.length);
  });

  it('are no more than 23 lines in a minute, however many strangers call, and none is left uncounted', () => {
    const events = ['export.denied', 'import.denied', 'otpEmail.denied'];
    for (let call = 0; call < 3_000; call++)
      denied.add(denial({ event: events[call % 3] ?? '', remote: `192.0.2.${call % 250}` }));
    expect(written).toHaveLength(10);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(written.length).toBeLessThanOrEqual(23);
    const repeated = written.reduce((sum, event) => sum + (event.repeated ?? 0), 0);
    expect(repeated + 10).toBe(3_000);
    const others = written.filter(({ repeated: count, remote }) => count !== undefined && remote === undefined);
    expect(others.map(({ event }) => event).toSorted()).toEqual(events);
  });

  it('of a caller with a token are written and counted apart from those of strangers and of other tokens', () => {
    for (let call = 0; call < 100; call++) {
      denied.add(denial({ remote: `192.0.2.${call}` }));
      denied.add(denial({ userId: 'other', tokenId: 'o', remote: `198.51.100.${call}` }));
    }
    const insider = { userId: 'u', tokenId: 't', outcome: 'PERMISSION_DENIED' };
    for (let call = 0; call < 30; call++) denied.add(denial({ ...insider, remote: `203.0.113.${call}` }));
    const own = () => written.filter(({ userId, tokenId }) => userId === 'u' && tokenId === 't');
    expect(own()).toHaveLength(10);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(own().slice(10)).toEqual([expect.objectContaining({ ...insider, repeated: 20 })]);
  });

  it('are written again after the minute', () => {
    denied.add(denial());
    vi.advanceTimersByTime(MINUTE_MS);
    denied.add(denial());
    expect(written).toEqual([denial({ time: expect.any(String) }), denial()]);
  });

  it('that are counted are written at the end of the process', async () => {
    denied.add(denial());
    denied.add(denial());
    await denied.close();
    expect(written[1]).toMatchObject({ repeated: 1 });
  });
});
