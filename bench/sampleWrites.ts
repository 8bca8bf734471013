import { readRecord } from '../shared/contract/record.ts';
import { createWrites, planRecord } from '../shared/contract/recordPlan.ts';
import { sections } from '../shared/contract/sections.ts';
import type { Write } from '../shared/store/store.ts';
import { ORGANISATION, sampleUser } from './sampleUsers.ts';

/** A write as an import of new records makes it. */
export type CreateWrite = Extract<Write, { type: 'create' }>;

/** What an import of the sample document writes for its users: each one's document and claim, `size` writes a batch. */
export function sampleWrites(users: number, size: number): CreateWrite[][] {
  const batches: CreateWrite[][] = [];
  for (let at = 0; at < users; at += size / 2) {
    const numbers = Array.from({ length: Math.min(size / 2, users - at) }, (_, index) => at + index);
    batches.push(numbers.flatMap(writesOf));
  }
  return batches;
}

function writesOf(number: number): CreateWrite[] {
  const section = sections.find(({ name }) => name === 'humanUsers');
  if (section === undefined) throw new Error('no section for users');
  const plan = planRecord(readRecord(section, sampleUser(number), ORGANISATION), false);
  return createWrites(plan, '2026-01-01T00:00:00.000000Z').filter((write) => write.type === 'create');
}
