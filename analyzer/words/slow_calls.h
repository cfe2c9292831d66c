// SPDX-License-Identifier: Apache-2.0
//
// Advice for calls that are known to be slow, one message for each call: see advice/known_calls.h.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kInsteadOfDeepcopy{
    "instead-of.deepcopy",
    "Copy only what is changed: array.copy() for arrays, dict(x) or list(x) for containers.",
    "只复制会被修改的部分：数组用 array.copy()，容器用 dict(x) 或 list(x)。"};
inline constexpr Message kInsteadOfChoice{
    "instead-of.choice",
    "numpy.random.choice without replacement permutes the whole population: draw with "
    "numpy.random.default_rng().choice(n, k, replace=False, shuffle=False) or with integers(). "
    "Other numbers are drawn then.",
    "不放回的 numpy.random.choice 会打乱整个总体：改用 "
    "numpy.random.default_rng().choice(n, k, replace=False, shuffle=False) 或 "
    "integers()；抽到的随机数会不同。"};
inline constexpr Message kInsteadOfCompile{"instead-of.compile",
                                           "Compile regular expressions once, outside of the "
                                           "dataset's methods, and use the compiled ones.",
                                           "在数据集方法之外只编译一次正则表达式，再重复使用。"};
inline constexpr Message kInsteadOfParsing{
    "instead-of.parsing",
    "Parse what is the same for all samples once, in the constructor, and keep it as arrays.",
    "对所有样本相同的内容只在构造函数中解析一次，并以数组保存。"};
inline constexpr Message kInsteadOfOpening{
    "instead-of.opening",
    "Open the file or database once in each worker, at its first use, and keep it open.",
    "在每个工作进程首次使用时打开一次文件或数据库，并保持打开。"};
inline constexpr Message kInsteadOfRows{
    "instead-of.rows",
    "Take the columns out of the table once (df[\"path\"].to_numpy()) and index these arrays.",
    "先把各列取出为数组（df[\"path\"].to_numpy()），再用下标访问。"};
inline constexpr Message kInsteadOfTensor{
    "instead-of.tensor",
    "torch.tensor() copies element by element from lists and always copies arrays: use "
    "torch.from_numpy() or torch.as_tensor() on an array.",
    "torch.tensor() 逐个元素复制列表，且总会复制数组：请对数组使用 torch.from_numpy() 或 "
    "torch.as_tensor()。"};
inline constexpr Message kInsteadOfRoundTrip{
    "instead-of.round-trip",
    "Stay with one kind of picture: each way from an array to a PIL image and back copies all "
    "pixels.",
    "只用一种图像表示：数组与 PIL 图像之间的每次转换都会复制所有像素。"};
inline constexpr Message kInsteadOfSleep{"instead-of.sleep",
                                         "The dataset sleeps: find out whether it has to.",
                                         "数据集调用了 sleep：请确认是否必要。"};
inline constexpr Message kInsteadOfText{
    "instead-of.text", "Store the numbers as a binary array once (numpy.save) and load that.",
    "把数值保存为二进制数组（numpy.save），以后直接读取。"};
inline constexpr Message kInsteadOfVectorize{
    "instead-of.vectorize",
    "numpy.vectorize and apply_along_axis call a Python function for each element: write the "
    "formula with array operations.",
    "numpy.vectorize 和 apply_along_axis 对每个元素调用 Python 函数：请改写为数组运算。"};
inline constexpr Message kInsteadOfAppend{
    "instead-of.append",
    "Each numpy.append copies the whole array: collect in a list and join once, or allocate the "
    "array beforehand.",
    "每次 numpy.append 都会复制整个数组：先放入列表再一次合并，或预先分配。"};
inline constexpr Message kInsteadOfSkimage{
    "instead-of.skimage",
    "Resize with OpenCV, Pillow or torchvision on uint8: scikit-image computes in float64. Pixels "
    "differ slightly.",
    "用 OpenCV、Pillow 或 torchvision 对 uint8 图像缩放：scikit-image 以 float64 "
    "计算。像素会略有不同。"};
inline constexpr Message kInsteadOfSpline{
    "instead-of.spline",
    "scipy.ndimage interpolates with cubic splines: pass order=1, or use OpenCV's warpAffine. "
    "Pixels differ.",
    "scipy.ndimage 默认用三次样条插值：传 order=1，或改用 OpenCV 的 warpAffine。像素会不同。"};

}  // namespace penstock::analyzer::words
