import {
  button,
  optionalList,
  optionalParagraph,
  paragraph,
  type LanguageTemplates,
  type MessageContent,
  type TemplateFacts,
} from './template.ts';

export const english: LanguageTemplates = {
  greeting: (name) => (name === null ? 'Hello,' : `Hello ${name},`),
  closing: 'Kind regards,',
  reason: ({ sender, productName }) =>
    `You receive this e-mail from ${sender} because ${productName} may be of interest to you.`,
  unsubscribe: 'Stop e-mails like this',
  personal,
  sellers,
  update_personal: updatePersonal,
  update_sellers: updateSellers,
  pi_tutorials: piTutorials,
};

function personal({ productName, about, links }: TemplateFacts): MessageContent {
  return {
    subject: `Try ${productName} for a week`,
    preview: 'Seven days, without a card and without an account.',
    blocks: [
      paragraph(
        `I make ${productName}, and I am writing to you because I think that it could be useful to you.`,
      ),
      ...optionalParagraph(about),
      paragraph(
        'You can try it for seven days, without a card and without an account: download it, open it, and the week begins.',
      ),
      button(`Download ${productName}`, links.download),
      paragraph(
        'If it helps you, I am glad. If something is missing, tell me: a reply to this e-mail comes straight to me.',
      ),
    ],
  };
}

function sellers({ productName, about, links }: TemplateFacts): MessageContent {
  return {
    subject: `${productName} for your business and your customers`,
    preview: 'For those who sell with it, and for those who sell it.',
    blocks: [
      paragraph(
        `I make ${productName}. I am writing to you because you sell: perhaps with software like this at your side, perhaps by offering it to your customers. There are terms made for both.`,
      ),
      ...optionalParagraph(about),
      {
        kind: 'list',
        items: [
          'One license runs on several computers, and moves to another one in a minute.',
          'It stays valid when the connection fails for a while.',
          'Keys arrive by e-mail as soon as the payment is made, so nobody has to wait for you.',
        ],
      },
      button('See what sellers get', links.sellers),
      paragraph(
        `Would you like to resell ${productName}, or do you need more than the page offers? Write to me, and we will find terms that suit us both.`,
      ),
    ],
  };
}

function updatePersonal({
  productName,
  version,
  highlights,
  links,
}: TemplateFacts): MessageContent {
  return {
    subject:
      version === null
        ? `A new version of ${productName} is here`
        : `${productName} ${version} is here`,
    preview: 'Your license goes on as it is.',
    blocks: [
      paragraph(
        version === null
          ? `A new version of ${productName} is ready for you.`
          : `Version ${version} of ${productName} is ready for you.`,
      ),
      ...optionalList('What is new', highlights),
      paragraph(
        'Your license goes on as it is: install the new version over the old one, and carry on where you were.',
      ),
      button('Get the new version', links.download),
      { kind: 'link', text: 'All changes', url: links.news },
      paragraph(
        'Does something not work as it should, or is something missing? Reply to this e-mail: I read every answer.',
      ),
    ],
  };
}

function updateSellers({ productName, version, highlights, links }: TemplateFacts): MessageContent {
  const what = version === null ? productName : `${productName} ${version}`;
  return {
    subject: `${what}: news for sellers`,
    preview: 'What to know before your customers ask.',
    blocks: [
      paragraph(
        `${version === null ? 'A new version' : `Version ${version}`} of ${productName} is out. Here is what you should know before your customers ask.`,
      ),
      ...optionalList('What is new', highlights),
      ...optionalList('For you and your customers', [
        'All licenses stay valid, those that you have sold among them.',
        'Customers install the new version over the old one; nothing has to be activated again.',
      ]),
      button('Read all the news', links.news),
      paragraph(
        'If you need a text or a picture for your customers, tell me and I will send it to you.',
      ),
    ],
  };
}

function piTutorials({ productName, links }: TemplateFacts): MessageContent {
  return {
    subject: `Raspberry Pi and ${productName}, step by step`,
    preview: 'Tutorials that end with something that runs.',
    blocks: [
      paragraph(
        `A Raspberry Pi costs little, takes up hardly any room and runs day and night. That makes it a good companion for ${productName}.`,
      ),
      paragraph(
        'So I have written tutorials that show how the two work together. Each begins with what you need, shows every command, and ends with something that runs.',
      ),
      button('Open the tutorials', links.tutorials),
      paragraph(
        'Have you built something of your own already? Show it to me; if you agree, I will show it to others.',
      ),
    ],
  };
}
