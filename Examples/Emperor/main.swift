// main.swift: the emperor announces meals; only the servants that he hired receive them.
// Example: Emperor. Run it with `swift run emperor`.

let emperor = Emperor()

// The proxy does not retain the cooks, so they are stored here. Each registers in its initializer.
let pork = PorkCook(hiredBy: emperor)
let fish = FishCook(hiredBy: emperor, catchOfTheDay: 6)
var aubergine: AubergineCook? = AubergineCook(hiredBy: emperor)
let stranger = StreetCook()

emperor.announce(Meal(occasion: "dinner", dishes: ["belly of pork", "carps", "aubergines with minced meat"]))
print("\(emperor.minutesUntilServed()) minutes of work, \(try emperor.longestDish()) for the longest dish")

// A dog joins. No cook, protocol or emperor had to change.
let dog = Dog(hiredBy: emperor)
emperor.announce(Meal(occasion: "supper", dishes: ["ham", "trouts", "aubergine soup"]))
print("\(emperor.minutesUntilServed()) minutes of work, the dog's not counted")

// A cat joins as a taster. One cook is released without being removed.
let cat = Cat(trustedBy: emperor)
aubergine = nil
emperor.announce(Meal(occasion: "breakfast", dishes: ["sausages", "herrings", "aubergine jam"]))
print("\(emperor.minutesUntilServed()) minutes of work")

print("the street cook heard of \(stranger.mealsHeardOf) meals")

// Prints:
// the emperor announces dinner: belly of pork, carps, aubergines with minced meat
//   the pork cook braises belly of pork
//   the fish cook boils 6 carps
//   the aubergine cook fries aubergines with minced meat
// 3 heard
// 175 minutes of work, 120 for the longest dish
// the emperor announces supper: ham, trouts, aubergine soup
//   the pork cook braises ham
//   the fish cook boils 6 trouts
//   the aubergine cook fries aubergine soup
//   the dog fetches firewood
// 4 heard
// 175 minutes of work, the dog's not counted
// the emperor announces breakfast: sausages, herrings, aubergine jam
//   the cat comes for breakfast
//   the pork cook braises sausages
//   the fish cook boils 6 herrings
//   the dog fetches firewood
//   aubergine jam will not be served
// 4 heard
// 150 minutes of work
// the street cook heard of 0 meals
