/** What is said of a file on its way to the server. */
export const uploadWords = {
  sending: (name: string) => `Sending ${name}…`,
  storing: (name: string) => `${name} is sent, the server stores it…`,
  progress: (name: string) => `Progress of ${name}`,
  percent: (count: number) => `${count} %`,
  cancel: (name: string) => `Do not send ${name}`,
  tooLarge: (name: string, size: string, most: string) =>
    `${name} has ${size}: this server takes files of up to ${most}.`,
} as const;
