import { judge, type Kind } from '../kind.ts';
import { HERDS, herdImport, herdPeople, PEOPLE_PER_HERD, PLAIN_PERSON } from '../population.ts';
import { checkImport, type System, sendPlaced } from '../system.ts';

const path = (userId: string) => `/v2/users/${userId}/otp_email`;

/**
 * Removals of factors that are set, and imports that set them again. A person's factor is removed once after each
 * import, and the import waits for the last removal of its organisation: so every response is known beforehand.
 */
export function removals(system: System): readonly Kind[] {
  const herds = Array.from({ length: HERDS }, (_, herd) => herd);
  const factors = herds.flatMap((herd) => herdPeople(herd).map((userId) => ({ herd, userId })));
  const left = new Map(herds.map((herd) => [herd, PEOPLE_PER_HERD]));
  const empty: number[] = [];
  const remove = async (userId: string, status: number) =>
    judge(await system.client.send({ method: 'DELETE', path: path(userId), token: system.token }), status);

  return [
    {
      name: 'removal',
      workers: 8,
      everyMs: 320,
      asked: ['200'],
      send: async () => {
        const factor = factors.shift();
        if (factor === undefined) return undefined;
        const outcome = await remove(factor.userId, 200);
        const rest = (left.get(factor.herd) ?? 0) - 1;
        left.set(factor.herd, rest);
        if (rest === 0) empty.push(factor.herd);
        return outcome;
      },
    },
    {
      name: 'removal of a factor that is not set',
      workers: 2,
      everyMs: 500,
      asked: ['404'],
      send: () => remove(PLAIN_PERSON, 404),
    },
    {
      name: 'import that overwrites 100 people',
      workers: 1,
      pauseMs: 500,
      asked: ['200'],
      send: async () => {
        const herd = empty.shift();
        if (herd === undefined) return undefined;
        const check = checkImport(PEOPLE_PER_HERD, ['overwritten']);
        const outcome = await sendPlaced(system, 'import', { body: () => herdImport(herd) }, { status: 200, check });
        if (outcome.answer === '200') {
          left.set(herd, PEOPLE_PER_HERD);
          factors.push(...herdPeople(herd).map((userId) => ({ herd, userId })));
        } else empty.push(herd);
        return outcome;
      },
    },
  ];
}
