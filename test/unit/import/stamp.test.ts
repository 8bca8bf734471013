import { describe, expect, it } from 'vitest';
import { uniqueStamp } from '../../../functions/import/stamp.ts';

const NOW = new Date('2026-01-01T00:00:00.123Z');

describe('the stamp of an import', () => {
  it('is the time with nine more digits', () => {
    expect(uniqueStamp(NOW)).toMatch(/^2026-01-01T00:00:00\.123\d{9}Z$/);
  });

  it('differs between imports that begin in the same millisecond', () => {
    expect(new Set(Array.from({ length: 100 }, () => uniqueStamp(NOW))).size).toBe(100);
  });
});
