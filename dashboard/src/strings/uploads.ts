/** The progress of a file that is being uploaded. */
export const uploadStrings = {
  sending: (name: string) => `Uploading ${name}…`,
  storing: (name: string) => `Storing ${name}…`,
  progress: (name: string) => `Progress of ${name}`,
  percent: (count: number) => `${count} %`,
  cancel: (name: string) => `Cancel upload of ${name}`,
  tooLarge: (name: string, size: string, max: string) =>
    `${name} is ${size}, but this server accepts at most ${max}. Choose a smaller file.`,
} as const;
