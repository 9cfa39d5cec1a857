import type { SessionStore } from '../../contract/host.ts';
import { isPlaceholder, type NetworkPerson } from '../../contract/people.ts';
import { nameOf } from '../link/credentials.ts';
import { jidOf, lidOfPlaceholder, MAPPING } from './addresses.ts';

/** Looks up a person's phone number and LID in what the client has stored, without a connection. */
export async function storedPerson(digits: string, store: Pick<SessionStore, 'get'>): Promise<NetworkPerson> {
  const read = async (id: string): Promise<string | undefined> => {
    const text = await store.get(nameOf(MAPPING, id));
    return text === undefined ? undefined : JSON.parse(text);
  };
  const isHidden = isPlaceholder(digits);
  const lid = isHidden ? lidOfPlaceholder(digits) : await read(digits);
  const phoneNumber = isHidden ? await read(`${lid}_reverse`) : digits;
  const ids = [
    ...(phoneNumber === undefined ? [] : [jidOf(phoneNumber)]),
    ...(lid === undefined ? [] : [`${lid}@lid`]),
  ];
  return { phoneNumber: phoneNumber ?? digits, networkIds: ids };
}
