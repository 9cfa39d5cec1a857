import type { Connection, Reader } from '@platformatic/kafka';

/*
 * The leaders of a topic's partitions. The client's own parser makes an error with a stack trace for each partition
 * that reports one, which takes seconds for a response of a megabyte, and keeps what publishing does not need.
 *
 * Source: https://kafka.apache.org/protocol.html#The_Messages_Metadata
 */

type Library = typeof import('@platformatic/kafka');

export interface Leader {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

export interface TopicMetadata {
  readonly brokers: readonly Leader[];
  readonly partitions: readonly { readonly partitionIndex: number; readonly leaderId: number }[];
}

const METADATA = 3;
const FLEXIBLE_VERSION = 9;
const OLD_VERSION = 4;

/** @throws {ProtocolError} if the cluster reports an error of the topic, such as that it does not exist */
export function readMetadata(
  library: Library,
  connection: Connection,
  topic: string,
  highestVersion: number,
): Promise<TopicMetadata> {
  const { createAPI, metadataV9, metadataV4, ProtocolError } = library;
  const isFlexible = highestVersion >= FLEXIBLE_VERSION;
  const parse = (_: number, __: number, ___: number, reader: Reader): TopicMetadata => {
    const { brokers, topics } = parseMetadata(reader, isFlexible);
    const found = topics[0];
    if (found === undefined) throw new Error('no topic in the metadata');
    if (found.errorCode !== 0) throw new ProtocolError(found.errorCode);
    return { brokers, partitions: found.partitions };
  };
  const { createRequest } = isFlexible ? metadataV9 : metadataV4;
  const version = isFlexible ? FLEXIBLE_VERSION : OLD_VERSION;
  const api = createAPI<unknown[], TopicMetadata>(METADATA, version, createRequest, parse, isFlexible, isFlexible);
  return api.async(connection, [topic], false, false);
}

function parseMetadata(reader: Reader, isFlexible: boolean) {
  const array = <T>(read: () => T) => reader.readArray(read, isFlexible, isFlexible) as T[];
  reader.readInt32(); // throttle time
  const brokers = array((): Leader => {
    const broker = { nodeId: reader.readInt32(), host: reader.readString(isFlexible), port: reader.readInt32() };
    reader.readNullableString(isFlexible); // rack
    return broker;
  });
  reader.readNullableString(isFlexible); // id of the cluster
  reader.readInt32(); // controller
  const topics = array(() => {
    const errorCode = reader.readInt16();
    reader.readString(isFlexible); // name
    reader.readBoolean(); // whether it is internal
    const partitions = array(() => parsePartition(reader, isFlexible));
    if (isFlexible) reader.readInt32(); // authorized operations
    return { errorCode, partitions };
  });
  return { brokers, topics };
}

function parsePartition(reader: Reader, isFlexible: boolean): TopicMetadata['partitions'][number] {
  reader.readInt16(); // error, such as a missing replica
  const partition = { partitionIndex: reader.readInt32(), leaderId: reader.readInt32() };
  if (isFlexible) reader.readInt32(); // epoch of the leader
  // Replicas, those in sync, and in recent versions those that are offline.
  for (let list = 0; list < (isFlexible ? 3 : 2); list++) reader.readArray(() => reader.readInt32(), isFlexible, false);
  return partition;
}
