import { nameVersion, type LanguageTexts } from './template.ts';

export const english: LanguageTexts = {
  greeting: (name) => (name === null ? 'Hello,' : `Hello ${name},`),
  closing: 'Kind regards,',
  reason: ({ sender, productName }) =>
    `You receive this e-mail from ${sender} because ${productName} may be of interest to you.`,
  unsubscribe: 'Stop e-mails like this',
  newsHeading: 'What is new',
  personal: ({ productName }) => ({
    subject: `Try ${productName} for a week`,
    preview: 'Seven days, without a card and without an account.',
    opening: `I make ${productName}, and I am writing to you because I think that it could be useful to you.`,
    details:
      'You can try it for seven days, without a card and without an account: download it, open it, and the week begins.',
    button: `Download ${productName}`,
    ending:
      'If it helps you, I am glad. If something is missing, tell me: a reply to this e-mail comes straight to me.',
  }),
  sellers: ({ productName }) => ({
    subject: `${productName} for your business and your customers`,
    preview: 'For those who sell with it, and for those who sell it.',
    opening: `I make ${productName}. I am writing to you because you sell: perhaps with software like this at your side, perhaps by offering it to your customers. There are terms made for both.`,
    points: {
      heading: null,
      items: [
        'One license runs on several computers, and moves to another one in a minute.',
        'It stays valid when the connection fails for a while.',
        'Keys arrive by e-mail as soon as the payment is made, so nobody has to wait for you.',
      ],
    },
    button: 'See what sellers get',
    ending: `Would you like to resell ${productName}, or do you need more than the page offers? Write to me, and we will find terms that suit us both.`,
  }),
  update_personal: ({ productName, version }) => ({
    subject:
      version === null
        ? `A new version of ${productName} is here`
        : `${productName} ${version} is here`,
    preview: 'Your license goes on as it is.',
    opening:
      version === null
        ? `A new version of ${productName} is ready for you.`
        : `Version ${version} of ${productName} is ready for you.`,
    details:
      'Your license goes on as it is: install the new version over the old one, and carry on where you were.',
    button: 'Get the new version',
    link: 'All changes',
    ending:
      'Does something not work as it should, or is something missing? Reply to this e-mail: I read every answer.',
  }),
  update_sellers: ({ productName, version }) => ({
    subject: `${nameVersion(productName, version)}: news for sellers`,
    preview: 'What to know before your customers ask.',
    opening: `${version === null ? 'A new version' : `Version ${version}`} of ${productName} is out. Here is what you should know before your customers ask.`,
    points: {
      heading: 'For you and your customers',
      items: [
        'All licenses stay valid, those that you have sold among them.',
        'Customers install the new version over the old one; nothing has to be activated again.',
      ],
    },
    button: 'Read all the news',
    ending:
      'If you need a text or a picture for your customers, tell me and I will send it to you.',
  }),
  pi_tutorials: ({ productName }) => ({
    subject: `Raspberry Pi and ${productName}, step by step`,
    preview: 'Tutorials that end with something that runs.',
    opening: `A Raspberry Pi costs little, takes up hardly any room and runs day and night. That makes it a good companion for ${productName}.`,
    details:
      'So I have written tutorials that show how the two work together. Each begins with what you need, shows every command, and ends with something that runs.',
    button: 'Open the tutorials',
    ending:
      'Have you built something of your own already? Show it to me; if you agree, I will show it to others.',
  }),
};
