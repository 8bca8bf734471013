import { objectUri, storageUnavailable } from '../../../shared/errors/storageErrors.ts';
import type { ObjectLocation, ObjectStorage, PinnedObject } from '../../../shared/objectStorage/objectStorage.ts';
import { Injection, type InjectionPlan } from './injection.ts';

/** The operations of a bucket that can fail; `read` is each chunk of a read object, `content` each chunk of a written one. */
export type BucketOperation = 'write' | 'content' | 'pin' | 'read';

/** A bucket, and the faults between it and its user. */
export interface FaultyBucket {
  readonly bucket: ObjectStorage;
  readonly injection: Injection<BucketOperation>;
}

/** Puts faults before a bucket. */
export function faultyBucket(bucket: ObjectStorage, plan: InjectionPlan<BucketOperation>): FaultyBucket {
  let location: Pick<ObjectLocation, 'bucket' | 'path'> = { bucket: '', path: '' };
  const injection = new Injection<BucketOperation>(plan, {
    failure: () => storageUnavailable({ at: objectUri(location) }, { cause: new Error('injected') }),
  });
  const faulty: ObjectStorage = {
    write: (at, content, signal) => {
      location = at;
      return injection.around('write', () => bucket.write(at, struck('content', content, injection), signal));
    },
    pin: (at, signal) => {
      location = at;
      return injection.around('pin', async () => faultyObject(await bucket.pin(at, signal), injection));
    },
  };
  return { bucket: faulty, injection };
}

function faultyObject(object: PinnedObject, injection: Injection<BucketOperation>): PinnedObject {
  const { size, generation } = object;
  return { size, generation, read: (signal) => struck('read', object.read(signal), injection) };
}

async function* struck(
  operation: BucketOperation,
  pieces: AsyncIterable<Uint8Array>,
  injection: Injection<BucketOperation>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield await injection.around(operation, async () => piece);
}
