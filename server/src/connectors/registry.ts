import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Settings } from '../config.ts';
import type { TargetPolicy } from '../egress/target.ts';
import { isFields } from '../objects.ts';
import { SANDBOX } from '../sandbox/sandbox.ts';
import { thrownCode, thrownMessage } from '../thrown.ts';
import { capabilityNames } from './contract/capabilities.ts';
import type { Connector, ConnectorModule, ConnectorTools } from './contract/connector.ts';
import { messageTypes } from './contract/content.ts';
import { createWhatsapp } from './whatsapp/whatsapp.ts';
import { createWhatsappCloud } from './whatsapp-cloud/whatsappCloud.ts';

/** A package in `CONNECTORS` cannot be used. The message names it and gives the reason. */
export class ConnectorError extends Error {}

/**
 * Loads the networks of this server, apart from the sandbox: the built-in ones, and the packages in `CONNECTORS`. A
 * package runs in this process with all of its rights, so the operator must trust it.
 * @param targets addresses to which accounts may let the server connect
 * @throws {ConnectorError}
 */
export async function loadConnectors(
  settings: Settings,
  { random, targets, ...tools }: ConnectorTools & { random: () => number; targets: TargetPolicy },
): Promise<Connector[]> {
  const connectors = [
    createWhatsapp({
      whatsappUrl: settings.whatsappUrl,
      whatsappVersion: settings.whatsappVersion,
      whatsappMediaHost: settings.whatsappMediaHost,
      whatsappKeepAliveSeconds: settings.whatsappKeepAliveSeconds,
      mediaMaxBytes: settings.mediaMaxBytes,
      targets,
      random,
    }),
    createWhatsappCloud({
      baseUrl: settings.whatsappCloudUrl,
      version: settings.whatsappCloudVersion,
      maxFileBytes: settings.mediaMaxBytes,
      targets,
    }),
  ];
  if (settings.connectors.length > 0) await import('./ownPackage.ts');
  for (const name of settings.connectors) {
    const connector = await load(name, tools);
    if (connector.name === SANDBOX || connectors.some((other) => other.name === connector.name))
      throw new ConnectorError(`"${name}" uses the name "${connector.name}", which another connector already has`);
    connectors.push(connector);
  }
  return connectors;
}

async function load(name: string, tools: ConnectorTools): Promise<Connector> {
  const loaded: Partial<ConnectorModule> = await import(specifierOf(name)).catch((cause: unknown) => {
    const isMissing = thrownCode(cause) === 'ERR_MODULE_NOT_FOUND';
    const advice = isMissing ? '. Install the package, or write a path with ./ or / in front' : '';
    throw new ConnectorError(`"${name}" cannot be loaded: ${thrownMessage(cause)}${advice}`, { cause });
  });
  if (typeof loaded.createConnector !== 'function')
    throw new ConnectorError(`"${name}" does not export a function createConnector`);
  const log = tools.log.child({ connector: name });
  let connector: unknown;
  try {
    connector = await loaded.createConnector({ ...tools, log });
  } catch (cause) {
    throw new ConnectorError(`"${name}" cannot be started: ${thrownMessage(cause)}`, { cause });
  }
  const problem = problemOf(connector);
  if (problem !== undefined) throw new ConnectorError(`"${name}" did not return a connector: ${problem}`);
  // Validated above, as far as possible before it is used.
  return connector as Connector;
}

/** Returns a package name unchanged, and a path as a URL relative to the working directory. */
function specifierOf(name: string): string {
  return name.startsWith('.') || isAbsolute(name) ? pathToFileURL(resolve(name)).href : name;
}

function problemOf(made: unknown): string | undefined {
  if (!isFields(made)) return 'it is not an object';
  const { name, options, messageTypes: types, capabilities, open }: Partial<Record<keyof Connector, unknown>> = made;
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,49}$/.test(name))
    return 'its name must be lower case letters, digits and dashes';
  if (typeof options !== 'object' || options === null || !('properties' in options))
    return 'its options must be a JSON Schema of an object with properties';
  const known: readonly unknown[] = messageTypes;
  if (!Array.isArray(types) || types.some((type) => !known.includes(type)))
    return `its messageTypes must be a list of some of ${messageTypes.join(', ')}`;
  const names: readonly unknown[] = capabilityNames;
  if (capabilities !== undefined && !(Array.isArray(capabilities) && capabilities.every((one) => names.includes(one))))
    return `its capabilities must be a list of some of ${capabilityNames.join(', ')}`;
  return typeof open === 'function' ? undefined : 'it has no function open';
}
