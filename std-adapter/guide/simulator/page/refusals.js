"use strict";
// What was refused, and why. The simulator and the settings say it in English; here each of their sentences has an
// Arabic one. Keys, values and what was typed stay as they are, and are written from left to right.

const Refusals = (() => {
  const { word, isArabic } = Words;

  /** Parts of sentences that are no keys and no values. */
  const PHRASES = [
    ["a rate or percentile of slow calls", "نسبة البطء أو مئينه"], ["a percentile", "المئين (percentile)"],
    ["the table [window]", "الجدول [window]"], ["[breakers.NAME] of a catalogue", "الجدول [breakers.NAME] في فهرس"],
    [/^(\S+\.size) or (\S+\.span)$/, "{1} أو {2}"], [/^\S+ number overflowed$/, "عدد أكبر مما يُقرأ"],
    [/^a duration with its unit, such as .*$/, "مدّة بوحدتها، مثل \"10s\" أو \"1m 30s\" أو \"250ms\" (وللعدد المجرّد بالميلي ثانية أضف _ms إلى المفتاح)"],
    [/^a rate such as .*$/, "نسبة، مثل \"50%\" أو \"0.1%\" (وللعدد المجرّد بالمئة أضف _percent إلى المفتاح)"],
    ["a kind of window", "نوع نافذة"], ["a table of settings", "جدول إعدادات"],
    [/^a list of statuses such as (.*)$/, "قائمة حالات، مثل {1}"], [/^a status such as (.*)$/, "حالة، مثل {1}"],
    [/^a whole number from (\S+) to (\S+)$/, "عدد صحيح من {1} إلى {2}"],
    ["a boolean", "true أو false"], ["boolean", "true أو false"],
    [/^integer (.+)$/, "العدد {1}"], [/^floating point (.+)$/, "العدد {1}"], [/^string (".*")$/, "النصّ {1}"],
    [/^boolean (.+)$/, "القيمة {1}"], ["map", "جدول"], ["sequence", "قائمة"],
    ["it is negative", "لأنها سالبة"], ["it does not end with %", "لأنها لا تنتهي بعلامة %"], ["it is no number", "لأنها ليست عددًا"],
    ["it is more than 100%", "لأنها تزيد على 100%"], ["it must be at least 0.0001%", "لأن أقلّها 0.0001%"],
    ["nothing finer than 0.0001% is told apart", "لأن أدقّ ما يُميَّز 0.0001%"],
    // Of the reader of TOML.
    ["duplicate key", "مفتاح مكرّر"], ["key with no value", "مفتاح بلا قيمة"], ["missing value", "قيمة ناقصة"],
    ["missing value for key", "مفتاح بلا قيمة"], ["string values must be quoted", "النصوص تُكتب بين علامتي اقتباس"],
    ["unexpected key or value", "مفتاح أو قيمة في غير موضعهما"], ["unexpected content", "محتوى غير متوقَّع"],
    ["unquoted keys cannot be empty", "مفتاح فارغ"], ["invalid unquoted key", "مفتاح لا يجوز"],
    [/^invalid .*string$/, "نصّ لا يجوز"], [/^invalid .*(number|float|mantissa|fraction|exponent)$/, "عدد لا يجوز"],
    [/^invalid .*$/, "قيمة لا تجوز"], [/^unclosed .*$/, "قوس لم يُغلق"], [/^extra .*$/, "علامة زائدة"], [/^missing .*$/, "علامة ناقصة"],
    ["key", "مفتاح"], ["value", "قيمة"], ["newline", "سطر جديد"], ["basic string", "نصّ"], ["literal string", "نصّ"],
    ["recursion limit", "تداخلٌ أعمق مما يُقرأ"], ["cannot recurse further; max recursion depth met", "تداخلٌ أعمق مما يُقرأ"],
    ["`_` may only go between digits", "لا موضع لعلامة _ إلا بين رقمين"],
    ["unexpected leading zero", "صفر زائد في أول العدد"], [/^unexpected .*$/, "علامة في غير موضعها"], [/^redundant .*$/, "علامة زائدة"],
    ["too few unicode value digits", "رمز يونيكود ناقص"], ["unicode hexadecimal value", "رقم ستّ عشري"], [/^a (?:two|four)-digit .*$/, "أرقام"],
    ["integers with a radix cannot be signed", "لا تسبق الإشارةُ عددًا مكتوبًا بأساس غير العشرة"], ["radix must be lowercase", "حرف الأساس يُكتب صغيرًا"],
    ["carriage return must be followed by newline", "نهاية سطر ناقصة"], [/^keys cannot be multi-line .*$/, "لا يمتدّ المفتاح على أسطر"],
    [/^cannot extend value .*$/, "لا يُزاد على قيمة كُتبت من قبل"], ["letters", "حروف"], ["numbers", "أرقام"], ["nothing", "لا شيء"],
  ];

  /** The sentences; the more particular one goes before. */
  const SENTENCES = [
    [/^(\S+) is (.+), but must be from (.+) to (.+)$/, "قيمة {1} هي {2}، ويجب أن تكون من {3} إلى {4}"],
    [/^(\S+), but at (\S+) calls a second must be at most (\S+)$/, "القيمة {1}، ويجب ألّا تزيد على {3} عند {2} نداء في الثانية"],
    [/^(\S+), but must be a whole number from (\S+) to (\S+)$/, "القيمة {1}، ويجب أن تكون عددًا صحيحًا من {2} إلى {3}"],
    [/^the log would have (\S+) calls, but must have at most (\S+)$/, "في السجل {1} نداء، ويجب ألّا تزيد على {2}"],
    [/^the text has (\S+) bytes, but must have at most (\S+)$/, "في النصّ {1} بايت، ويجب ألّا تزيد على {2}"],
    [/^(\S+), but must be from (\S+) to (\S+)$/, "القيمة {1}، ويجب أن تكون من {2} إلى {3}"],
    [/^(.+), but this simulator reads (.+)$/, "الإصدار {1}، وهذا المحاكي يقرأ الإصدار {2}"],
    [/^(".*") is none of (.+)$/, "{1} ليس واحدًا من: {2}"], [/^(".*") is no whole number$/, "{1} ليس عددًا صحيحًا"],
    [/^must be (\d+) letters from (.) to (.)$/, "يجب أن يكون {1} حرفًا من {2} إلى {3}"],
    [/^is there twice$/, "مكتوبٌ مرّتين"], [/^is nothing that a scene has$/, "ليس من أجزاء المشهد"],
    [/^(\S+) is set twice: keep one$/, "كُتب {1} مرّتين: أبقِ واحدة"],
    [/^(\S+) is set twice, as (\S+) and as (\S+): keep one$/, "كُتب {1} مرّتين، باسم {2} وباسم {3}: أبقِ واحدًا"],
    [/^(.+) can't stand beside (.+): keep one$/, "لا يجتمع {1} مع {2}: أبقِ واحدًا"],
    [/^(\S+) is no setting of kind = (\S+), which has (.+)$/, "{1} ليس من إعدادات النوع {2}، وإعداداته: {3}"],
    [/^(.+) is no setting: did you mean (.+)\?$/, "{1} ليس إعدادًا: أتقصد {2}؟"],
    [/^(.+) is no setting, which are (.+)$/, "{1} ليس إعدادًا، والإعدادات هي: {2}"],
    [/^(\S+) is called (\S+) now: rename it$/, "{1} صار اسمه {2}: غيّره"],
    [/^(\S+) belongs in (.+) only$/, "لا موضع لـ{1} إلا {2}"], [/^(.+) is missing: (.+) needs it$/, "ينقص {1}، ولا بدّ منه مع {2}"],
    [/^(".*") is no duration such as .*: it is negative$/, "{1} ليست مدّة، لأنها سالبة"],
    [/^(".*") is no duration such as .*$/, "{1} ليست مدّة، مثل \"10s\" أو \"1m 30s\" أو \"250ms\""],
    [/^(".*") is no rate such as [^:]*: (.*)$/, "{1} ليست نسبة، مثل \"50%\" أو \"0.1%\"، {2}"],
    [/^(".*") is no kind of window: did you mean (.+)\?$/, "{1} ليس نوع نافذة: أتقصد {2}؟"],
    [/^(".*") is no kind of window, which are (.+)$/, "{1} ليس نوع نافذة، والأنواع هي: {2}"],
    [/^(".*") is no status: did you mean (.+)\?$/, "{1} ليست حالة: أتقصد {2}؟"], [/^(".*") is no status such as (.+)$/, "{1} ليست حالة، مثل {2}"],
    [/^(\d+) to (\d+) are no statuses of HTTP, which are from (\d+) to (\d+) .*$/, "ليس بين {1} و{2} حالةٌ من حالات HTTP، وهي من {3} إلى {4}"],
    [/^invalid (?:type|value): (.+?), expected (.+)$/, "جاء {1}، والمطلوب {2}"],
    [/^([^,]+), expected (.+)$/, "{1}؛ والمتوقَّع {2}"],
  ];

  /** What of TOML's error is what: where, the lines that it shows, and what is wrong. */
  const TOML = /^TOML parse error at line (\d+), column (\d+)\n((?:\s*\d*\s*\|.*\n)*)([^]*)$/;

  const leftToRight = (text, className = "") => Object.assign(document.createElement("bdi"), { dir: "ltr", className, textContent: text });

  /** The Arabic of a sentence or a phrase, as nodes; null where there is none. */
  function arabic(text, table) {
    for (const [form, told] of table) {
      const found = typeof form === "string" ? form === text && [text] : form.exec(text);
      if (found) return told.split(/(\{\d\})/).map(part => /^\{\d\}$/.test(part) ? phrase(found[part[1]]) : part).flat();
    }
    return null;
  }

  /** A list of what is expected has a phrase for each; all else that has none stays as it is. */
  function phrase(text) {
    const whole = arabic(text, PHRASES);
    if (whole) return whole;
    const parts = text.split(", ").map(part => arabic(part, PHRASES));
    return parts.every(Boolean) ? parts.flatMap((part, index) => index ? ["، ", ...part] : part) : [leftToRight(text)];
  }

  const sentence = text => arabic(text, SENTENCES) ?? arabic(text, PHRASES) ?? [word("inEnglish"), leftToRight(text)];

  /** Whose field it is, unless the reason says so itself. A name that no part of a scene has stays as it is. */
  function heading({ field, why }) {
    if (field === "a" || field === "b") return [word("breaker", { lane: field.toUpperCase() }), ": "];
    if (why.includes(field)) return [];
    const name = isArabic() ? word(field) : field;
    return [name === field ? leftToRight(field) : name, ": "];
  }

  /** Beyond this a part is cut: it quotes what was refused, which may be of any length. */
  const LONGEST = 1000;

  function short(part) {
    const text = part.textContent ?? part;
    if (text.length <= LONGEST) return part;
    const cut = `${text.slice(0, LONGEST)} …`;
    return part.textContent === undefined ? cut : Object.assign(part, { textContent: cut });
  }

  /** Puts what was refused into the element; nothing, if nothing was. */
  function show(element, refused) {
    if (!refused) return element.replaceChildren();
    const [, line, column, shown, what] = TOML.exec(refused.why) ?? [null, null, null, "", refused.why];
    const place = line === null ? [] : [word("atPlace", { line, column })];
    const excerpt = shown === "" ? [] : [leftToRight(shown, "excerpt")];
    const parts = [...heading(refused), ...place, ...(isArabic() ? sentence(what) : [what]), ...excerpt];
    element.replaceChildren(...parts.map(short));
  }

  return { show };
})();
