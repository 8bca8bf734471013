import type { Kind } from '../kind.ts';
import { newImport, populationPeople, STILL, STILL_PEOPLE, stillImport } from '../population.ts';
import { checkExport, checkImport, type System, sendPlaced } from '../system.ts';

const all = { response_output: true, with_passwords: true, with_otp: true };

/** Exports and imports, some of them more at once than there are places. */
export function transfers(system: System): readonly Kind[] {
  let next = 0;
  let created = 0;
  const sendExport = (selection: object, people: number) =>
    sendPlaced(
      system,
      'export',
      { body: () => JSON.stringify({ ...all, ...selection }) },
      { status: 200, check: checkExport(people) },
    );
  const sendStill = () =>
    sendPlaced(
      system,
      'import',
      { body: () => stillImport },
      { status: 200, check: checkImport(STILL_PEOPLE, ['unchanged']) },
    );
  const sendNew = async () => {
    const { text, people } = newImport(next);
    const check = checkImport(people, ['created']);
    const outcome = await sendPlaced(system, 'import', { body: () => text }, { status: 200, check });
    if (outcome.answer === '200') {
      next++;
      created += people;
    }
    return outcome;
  };
  return [
    {
      name: 'export of everything',
      workers: 1,
      pauseMs: 2_000,
      asked: ['200'],
      send: () => sendExport({}, populationPeople + created),
    },
    {
      name: 'export of an organisation of 2,000 people',
      workers: 1,
      pauseMs: 500,
      asked: ['200'],
      send: () => sendExport({ org_ids: [STILL] }, STILL_PEOPLE),
    },
    { name: 'import of 25 new people', workers: 1, pauseMs: 2_000, asked: ['200'], send: sendNew },
    { name: 'import of 2,000 unchanged people', workers: 1, pauseMs: 1_000, asked: ['200'], send: sendStill },
    {
      name: 'imports, more at once than are admitted',
      workers: 6,
      everyMs: 15_000,
      isTogether: true,
      asked: ['200', '429'],
      send: sendStill,
    },
    {
      name: 'exports, more at once than are admitted',
      workers: 12,
      everyMs: 15_000,
      isTogether: true,
      asked: ['200', '429'],
      send: () => sendExport({ org_ids: [STILL] }, STILL_PEOPLE),
    },
  ];
}
